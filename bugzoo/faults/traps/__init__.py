"""Healthy code that looks wrong."""

from bugzoo.faults.model import Cause

CAUSE = Cause("nothing is wrong", also=("nothing", "healthy", "none", "it is healthy", "no fault", "no bug"))
