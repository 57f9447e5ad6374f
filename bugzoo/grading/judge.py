"""The checks of one run, in the order in which they are made: the cheap ones that refuse most repairs come first.

`CHEAP` reads what the run left, and takes a fraction of a second. `DEAR` repeats drawn steps with the healthy program.
Where a cheap check failed it is asked less: a gradient is not tried with other dropout or other repairs (`each_step`).
What needs another run of the program comes last, and only if all of this passed (`grade`).
"""

from collections.abc import Callable

from bugzoo.grading import checks, each_step, integrity, recovery
from bugzoo.grading.drawing import DRAWN
from bugzoo.grading.model import Check
from bugzoo.grading.readings import only_copies, only_slow, timed
from bugzoo.grading.seeds_together import crashed
from bugzoo.grading.stages import stage
from bugzoo.grading.submission import Submission
from bugzoo.grading.vital import vital

Checks = Callable[[Submission], list[Check]]


def signs(one: Submission) -> list[Check]:
    """Check the vital signs of a repair.

    Milliseconds also depend on the machine: a slow program is detected by its evidence, a share of its own steps, and by
    the twin that runs beside it.
    """
    return vital(one.run, one.may.ignore + timed() + only_slow(one.case) + only_copies(one.case))


CHEAP: tuple[Checks, ...] = (checks.compared, checks.illness, checks.trained, checks.fall, recovery.recovery)
"""After the vital signs."""


def judge(one: Submission) -> list[Check]:
    """Return the checks of one run. After a crash, or training that cannot be seen, nothing else is asked.

    Raises RuntimeError if the healthy twin does not finish, and any error for malformed arrays.
    """
    entries = signs(one)
    if crashed(entries):
        return entries
    if hidden := integrity.out_of_sight(one):
        return [hidden]
    stage("testing the trained model")
    entries += [made for each in CHEAP for made in each(one)]
    stage(f"comparing {DRAWN} steps with the healthy program")
    entries += each_step.checks(one.run, one.case, one.twin, thorough=all(check.passed for check in entries))
    entries += integrity.integrity(one)
    return entries + integrity.unchanged(one, entries)
