"""Tensors and layers on the wrong device."""

from bugzoo.faults.model import Cause

CAUSE = Cause("tensors on different devices", also=("device", "wrong device", "cpu and gpu"))
