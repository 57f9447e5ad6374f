"""Hand-ins that a person looks at first: nothing of them is run in a graded class.

They use something outside plain PyTorch (`plain.outside`). That is not wrong, so it is no zero; but a grader that runs it
could not trust what it measures. A self-check on one's own machine only mentions it.
"""

import os
from collections.abc import Sequence

from bugzoo.grading.model import FOR_A_PERSON, Result
from bugzoo.grading.plain import Outside, outside
from bugzoo.grading.plain_names import within
from bugzoo.grading.program import MOST_CHARACTERS

ALLOW = "BUGZOO_ALLOW"
"""Environment variable for nbgrader: further names that hand-ins may use, with commas between."""
SAID = (
    "In a class, a person looks at a program before it runs if it opens files, starts other programs, replaces functions of "
    "PyTorch, or imports what a repair does not need; and after all checks if it decides something by a counter or a clock of "
    "its own. The check then names the line. An instructor can allow a name: `bugzoo grade --allow NAME`, or "
    f"`{ALLOW}=NAME` for nbgrader."
)
"""What a notebook says above the graded cells."""
FILES = "print it, or keep tensors with `torch.save`"
INSTEAD = {
    "os": "leave it out; the notebook sets what its program needs",
    "sys": "leave it out, and let the program run to its end",
    "exit": "let the program run to its end",
    "quit": "let the program run to its end",
    "open": FILES,
    "write_text": FILES,
    "logging.FileHandler": "log without a file",
    "logging.basicConfig": "log without a file",
    "pandas": "use a list, a dictionary or a numpy array",
    "inspect": "leave it out",
    "forward": "call the module itself, as in `model(inputs)`",
    "getattr": "write the attribute's name",
    "setattr": "write the attribute's name",
    "torch.load": "keep what you need in a variable",
    "numpy.load": "keep what you need in a variable",
}
"""Name that is outside -> what to write instead."""
OTHERWISE = {
    "handed on as a value": "write its full name where you need it",
    "the whole program": "write a function or a class of your own, and use that",
    "begins with an underscore": "use the public name, or define the name yourself",
    "among the modules": "use torch, numpy or a module of the standard library that only computes",
    "among what a repair": "use another function of this module",
    "arguments only": "leave out the other arguments",
    "name of a module": "use another name",
}
"""Part of a reason -> what to write instead, where INSTEAD says nothing."""
MOST = 4
"""Names to allow that a message lists."""


def set_aside(source: str, handed_out: str, allow: Sequence[str] = ()) -> Result | None:
    """Return the result of a hand-in that a person looks at first; None for a plain one, and for one that cannot be read."""
    constructs = _outside(source, handed_out, allow)
    if not constructs:
        return None
    then = _do(constructs[0]) if graded_class() else _allow(constructs)  # nbgrader's page is for the student
    return Result(FOR_A_PERSON, message=f"Nothing was run. {_first(constructs)} {then}")


def noted(source: str, handed_out: str) -> str:
    """Return what is outside plain PyTorch in a program that was graded all the same, as allowed; "" for a plain one."""
    constructs = _outside(source, handed_out, ())
    return f"graded as allowed: {_first(constructs)}" if constructs else ""


def graded_class() -> bool:
    """Return whether nbgrader grades a class in this process."""
    return os.environ.get("NBGRADER_EXECUTION") == "autograde"


def allowed() -> list[str]:
    """Return the names that the environment allows besides."""
    return [name.strip() for name in os.environ.get(ALLOW, "").split(",") if name.strip()]


def mention(source: str, handed_out: str) -> str:
    """Return what a self-check says of the first construct outside plain PyTorch; "" for a plain program."""
    if not (constructs := _outside(source, handed_out, ())):
        return ""
    advice = f"{_first(constructs)} {_do(constructs[0])}"
    return f"In a graded class, a person would look at this program before it runs. {advice}"


def _outside(source: str, handed_out: str, allow: Sequence[str]) -> list[Outside]:
    if len(source) > MOST_CHARACTERS:  # grading says so
        return []
    try:
        return outside(source, handed_out, allow)
    except (SyntaxError, ValueError):  # grading says what is wrong with it
        return []
    except (RecursionError, MemoryError):  # what cannot be read is not plain
        return [Outside(1, source.splitlines()[0].strip(), "the program is nested too deeply to be read", "nesting")]


def _first(found: list[Outside]) -> str:
    others = len({construct.line for construct in found} - {found[0].line})
    more = f" {others} more {'line is' if others == 1 else 'lines are'} outside plain PyTorch." if others else ""
    sentence = str(found[0])
    return f"{sentence[0].upper()}{sentence[1:]}.{more}"


def _do(found: Outside) -> str:
    """Return what a student can do about it."""
    owner = found.name.partition(".")[0]
    advice = INSTEAD.get(found.name) or INSTEAD.get(owner)
    instead = advice or next((text for part, text in OTHERWISE.items() if part in found.why), "write it another way")
    return f"Instead: {instead}. Or ask your instructor to allow `{found.name}`."


def _allow(found: list[Outside]) -> str:
    """Return what an instructor types to have it graded."""
    every = list(dict.fromkeys(outside.name for outside in found))
    names = [name for name in every if not within(name, [other for other in every if other != name])]
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"To grade it as it is: `{' '.join(f'--allow {name}' for name in names[:MOST])}`{more}."
