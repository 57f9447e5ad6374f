"""The data: leakage, shuffling, normalization, labels, vocabulary."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.DATA, also=("wrong labels", "labels", "data", "label noise", "shuffled labels"))
