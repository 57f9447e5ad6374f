"""Hand-ins that a person looks at first: nothing of them is run in a graded class.

They use something outside plain PyTorch (`plain.outside`). That is not wrong, so it is no zero; but a grader that runs it
could not trust what it measures. A self-check on one's own machine only mentions it.
"""

import os
from collections.abc import Sequence

from bugzoo.grading.model import FOR_A_PERSON, Result
from bugzoo.grading.plain import Outside, outside

ALLOW = "BUGZOO_ALLOW"
"""Environment variable for nbgrader: further names that hand-ins may use, with commas between."""


def set_aside(source: str, handed_out: str, allow: Sequence[str] = ()) -> Result | None:
    """Return the result of a hand-in that a person looks at first; None for a plain one, and for one that is not Python."""
    found = _outside(source, handed_out, allow)
    return Result(FOR_A_PERSON, message=f"Nothing was run. {_first(found)}") if found else None


def graded_class() -> bool:
    """Return whether nbgrader grades a class in this process."""
    return os.environ.get("NBGRADER_EXECUTION") == "autograde"


def allowed() -> list[str]:
    """Return the names that the environment allows besides."""
    return [name.strip() for name in os.environ.get(ALLOW, "").split(",") if name.strip()]


def mention(source: str, handed_out: str) -> str:
    """Return what a self-check says of constructs outside plain PyTorch; "" for a plain program."""
    found = _outside(source, handed_out, ())
    return f"In a graded class, a person would look at this program before it runs. {_first(found)}" if found else ""


def _outside(source: str, handed_out: str, allow: Sequence[str]) -> list[Outside]:
    try:
        return outside(source, handed_out, allow)
    except (SyntaxError, ValueError):  # grading says what is wrong with it
        return []
    except (RecursionError, MemoryError):  # what cannot be read is not plain
        return [Outside(1, source.splitlines()[0].strip(), "the program is nested too deeply to be read", "nesting")]


def _first(found: list[Outside]) -> str:
    others = len({one.line for one in found} - {found[0].line})
    more = f" {others} more {'line is' if others == 1 else 'lines are'} outside plain PyTorch." if others else ""
    told = str(found[0])
    return f"{told[0].upper()}{told[1:]}.{more}"
