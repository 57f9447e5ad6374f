"""GPU and CPU memory: leaks, and more than there is (OOM)."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.LEAK, also=("memory leak", "graph kept", "missing detach", "missing item"))
