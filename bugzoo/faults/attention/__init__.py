"""Attention: masks, scaling, heads, position embeddings."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.MASK, also=("wrong mask", "attention mask", "masking"), explains=("loop/", "initialisation/"))
