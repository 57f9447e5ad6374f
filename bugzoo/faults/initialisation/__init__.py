"""Weight initialization: too large, too small, zero, dead ReLUs."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.INITIALIZATION, also=("initialisation", "initialization", "bad init", "dead units", "dead relu"))
