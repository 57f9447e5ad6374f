"""Recurrent networks: hidden state, packing, padding, batch_first."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.PADDING, also=("padding", "pad tokens"))
