"""Seeds, generators, and runs that differ."""

from bugzoo.faults.model import Cause

CAUSE = Cause("randomness without a fixed seed", also=("seed", "missing seed", "no seed", "randomness"))
