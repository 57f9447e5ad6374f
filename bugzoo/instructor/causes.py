"""Which of the diagnosis form's causes is right for a fault. The form's words name no catalogue entry, on purpose."""

from bugzoo.faults.model import Fault
from bugzoo.lab.diagnosis import CAUSES

(
    STALE, LOSS, DOMAIN, FORMAT, MASK, STILL, RATE, DATA, MODE, MEMORY, SPEED, RANDOM, RANKS, NOTHING
) = CAUSES  # fmt: skip

BY_FAMILY = {
    "loss": LOSS,
    "numerics": DOMAIN,
    "precision": FORMAT,
    "attention": MASK,
    "freezing": STILL,
    "optimizer": RATE,
    "data": DATA,
    "modes": MODE,
    "memory": MEMORY,
    "speed": SPEED,
    "reproducibility": RANDOM,
    "distributed": RANKS,
    "traps": NOTHING,
}
BY_FAULT = {"loop/stale_gradients": STALE}


def cause(fault: Fault) -> str:
    """The form's text; empty where the form has no word for it: then the place alone tells whether it was found."""
    return BY_FAULT.get(fault.id) or BY_FAMILY.get(fault.family, "")
