"""Learning rate, warmup, weight decay, parameter groups, optimizer state."""

from bugzoo.faults.model import Cause

CAUSE = Cause("a wrong learning rate", also=("lr", "wrong learning rate", "learning rate", "step size"))
