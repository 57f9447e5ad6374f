"""Checkpoints: what is lost when a run is stopped and resumed."""

from bugzoo.faults.model import Cause

CAUSE = Cause("state missing from the checkpoint", also=("checkpoint", "resuming", "lost state"))
