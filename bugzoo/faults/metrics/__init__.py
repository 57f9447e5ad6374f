"""Metrics that report the wrong number."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.METRIC, also=("wrong metric", "metric", "evaluation", "wrong evaluation"))
