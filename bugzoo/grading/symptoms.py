"""An instrument's reading for a learner who repairs: what was measured, as a number, without its cause.

An instrument's own message may name the cause and would leave nothing to find.
"""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import TYPE_CHECKING, Any

from bugzoo import diagnostics
from bugzoo.diagnostics.numbers import of_instrument

if TYPE_CHECKING:
    from bugzoo.diagnostics.numbers import Number

Numbers = Mapping[str, Any]
PASSES = "What passes is a run in which it raises no alarm."
"""What would pass, for an instrument without a sentence."""
MOST = 2
"""Numbers in the sentence of an instrument that has none of its own."""


def title(name: str) -> str:
    """Return an instrument's title in plain words; "" for a name that is not an instrument's."""
    if name not in diagnostics.names():
        return ""
    return diagnostics.declared(name).get("TITLE") or name.replace("_", " ").capitalize()


def symptom(name: str, numbers: Numbers, keys: Sequence[str] = ()) -> str:
    """Return what was done and what came out, in sentences, for an instrument that fires.

    `keys`: the numbers that the sentence is to be about, if one of those that fit says one of them.
    """
    return told(name, numbers, keys)[0]


def passes(name: str, numbers: Numbers) -> str:
    """Return what would pass, in a sentence."""
    return told(name, numbers)[1]


def told(name: str, numbers: Numbers, keys: Sequence[str] = ()) -> tuple[str, str]:
    """Return both; the instrument's labels and usual values if no sentence fits its numbers."""
    instrument = diagnostics.instrument(name)
    usual = {key: number.sentence() for key, number in of_instrument(name).items()}
    try:
        alarms = getattr(instrument, "ALARMS", ())
        about = [alarm for alarm in alarms if any(_says(alarm.saw, key) for key in keys)]
        fitting = [alarm for alarm in (*about, *alarms) if alarm(numbers)]
        for alarm in [*fitting, *about][:1]:  # a fault may show in a number with which the instrument does not fire
            return alarm.sentences(numbers, usual)
    except (KeyError, TypeError, ValueError):  # a submission's process may return any numbers
        pass
    return _labeled(name, numbers), PASSES


def _says(sentence: str, key: str) -> bool:
    """Return whether a sentence has a field for a number."""
    return any(field == key for _, field, _, _ in Formatter().parse(sentence))


def _labeled(name: str, numbers: Numbers) -> str:
    """Return the instrument's own labels with the measured and the usual values, one sentence each."""
    record = {key: number for key, number in of_instrument(name).items() if number.label}
    keys = [key for key in record if _is_number(numbers.get(key))]
    first = sorted(keys, key=lambda key: not record[key].usual)[:MOST]  # those with a usual value come first
    question = f"One question was asked of the run: {diagnostics.question(name)}"
    return " ".join([question, *(_sentence(record[key], numbers[key]) for key in first)])


def _sentence(number: "Number", value: float) -> str:
    usual = number.usual_text()
    return f"Measured: {number.label}: {value:.3g}" + (f" (usually {usual})." if usual else ".")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
