"""What a submission itself made unreadable: its text, or the files that its run left.

That is no fault of the machine, which would cost no attempt. It is wrong, and a person may look at it.
"""

from bugzoo.grading.model import FOR_A_PERSON, Result
from bugzoo.grading.program import MOST_CHARACTERS
from bugzoo.running import Run
from bugzoo.running.draw import AHEAD, STRANGE
from bugzoo.syntax import parse

A_PERSON = "A person may look at it."
"""The last sentence of such a result's message."""


NO_MEMORY = "The grader itself has not enough memory."


class Unreadable(Exception):
    """A submission made something unreadable. The text says what, in a sentence."""


class Ahead(Unreadable):
    """A submission's run tried to learn which of its steps are compared. The text says how, in a sentence."""


class NoSeed(Exception):
    """The seed of a run cannot be set in a submission's text. The text says why, in sentences."""


def usable(run: Run) -> Run:
    """Return `run`. Raises Unreadable if its script spoiled its results, and RuntimeError if the machine failed."""
    if run.spoilt:
        raise (Ahead if run.trouble.startswith((AHEAD, STRANGE)) else Unreadable)(run.trouble)
    if run.trouble:
        raise RuntimeError(run.trouble)
    return run


def check_text(source: str) -> None:
    """Raises Unreadable for a text that is too long, or that the parser gives up on. A mere syntax error is another matter."""
    try:
        source.encode()
        parse(source.replace("\0", " "))
        why = "it has null bytes" if "\0" in source else ""
        if len(source) > MOST_CHARACTERS:
            why = f"it is longer than {MOST_CHARACTERS // 2**20} MiB. Leave out long comments and data"
    except SyntaxError:
        why = ""
    except UnicodeEncodeError:
        why = "it has characters that are no text"
    except (RecursionError, MemoryError):
        why = "it is nested too deeply"
    if why:
        raise Unreadable(f"The program cannot be read: {why}.")


def settings_problem(error: Exception) -> str:
    """Return why the seed could not be set, in sentences."""
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()
        if line.startswith(("%", "!")):
            return f"Line {error.lineno}, `{line[:60]}`, is a notebook command, not Python. Put it in its own cell."
        return f"The program is not valid Python: {error.msg} (line {error.lineno})."
    if "several lines" in str(error):
        return "The grader sets `seed` for each run and needs it on one line. Restore `seed = 0` in the Settings."
    return (
        "The grader runs the program with several seeds and finds no `seed` to set. Put the line `seed = 0` back into the "
        "Settings. You may rename everything else except `model` and `metrics`."
    )


def of_error(error: Exception, seconds: float = 0.0) -> Result:
    """Return the result of a submission whose runs or checks raised an error.

    The machine's own trouble costs no attempt, nor does a seed that cannot be set. Anything else comes from the files
    that a submission's run left, and earns nothing.
    """
    if isinstance(error, Ahead):
        return Result(FOR_A_PERSON, message=f"{error} The run was ended there.", seconds=seconds)
    if isinstance(error, Unreadable | RecursionError):
        return for_a_person(error, seconds)
    if isinstance(error, NoSeed | OSError | RuntimeError | MemoryError):
        return Result("cannot be graded", message=(str(error) or NO_MEMORY)[:300], seconds=seconds)
    return for_a_person(left(error), seconds)


def for_a_person(why: object, seconds: float = 0.0) -> Result:
    """Return the result of a submission with something unreadable."""
    sentence = str(why)[:250].rstrip()
    return Result("wrong", message=f"{sentence}{'' if sentence.endswith('.') else '.'} {A_PERSON}", seconds=seconds)


def left(error: Exception) -> Unreadable:
    """Return what an error of the checks says: they read only what a submission's run left behind."""
    return Unreadable(f"The files that its run left cannot be read ({type(error).__name__}: {error})")
