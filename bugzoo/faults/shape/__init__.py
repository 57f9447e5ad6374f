"""Tensor shapes: view, permute, flatten, broadcasting."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.DIMENSION, also=("shape", "shape mismatch", "wrong dimension", "reshape", "broadcast"))
