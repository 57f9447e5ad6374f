"""What a submission itself made unreadable: its text, or the files that its run left.

That is no fault of the machine, which would cost no attempt. It is wrong, and a person may look at it.
"""

from bugzoo.grading.model import Result
from bugzoo.running import Run
from bugzoo.syntax import parse

A_PERSON = "A person may look at it."
"""The last sentence of such a result's message."""


class Unreadable(Exception):
    """A submission made something unreadable. The text says what, in a sentence."""


def usable(run: Run) -> Run:
    """Return `run`. Raises Unreadable if its script spoiled its results, and RuntimeError if the machine failed."""
    if run.spoilt:
        raise Unreadable(run.trouble)
    if run.trouble:
        raise RuntimeError(run.trouble)
    return run


def check_text(source: str) -> None:
    """Raises Unreadable for a text that Python's parser gives up on. A mere syntax error is another matter."""
    try:
        source.encode()
        parse(source.replace("\0", " "))
        why = "it has null bytes" if "\0" in source else ""
    except SyntaxError:
        why = ""
    except UnicodeEncodeError:
        why = "it has characters that are no text"
    except (RecursionError, MemoryError):
        why = "it is nested too deeply"
    if why:
        raise Unreadable(f"The program cannot be read: {why}.")


def for_a_person(why: object, seconds: float = 0.0) -> Result:
    """Return the result of a submission with something unreadable."""
    said = str(why)[:250].rstrip()
    return Result("wrong", message=f"{said}{'' if said.endswith('.') else '.'} {A_PERSON}", seconds=seconds)


def left(error: Exception) -> Unreadable:
    """Return what an error of the checks says: they read only what a submission's run left behind."""
    return Unreadable(f"The files that its run left cannot be read ({type(error).__name__}: {error})")
