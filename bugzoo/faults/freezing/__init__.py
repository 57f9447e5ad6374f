"""Frozen parameters, and parameters that the optimizer does not hold."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.NOT_UPDATED, also=("frozen", "no gradient for some layers", "untrained layers"))
