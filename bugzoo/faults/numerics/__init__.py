"""NaN and inf: log, sqrt, exp and division at the wrong place."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(
    words.DOMAIN,
    also=("log of zero", "logarithm of zero", "division by zero", "numerical instability"),
    explains=("optimizer/", "clipping/", "initialisation/"),
)
