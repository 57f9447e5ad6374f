"""An instrument's reading for a learner who repairs: what was measured, as a number, without its cause.

An instrument's own message may name the cause and would leave nothing to find.
"""

from collections.abc import Sequence
from string import Formatter
from typing import TYPE_CHECKING, Any

from bugzoo.grading.alarms import Numbers, data, loss, machine, model, updates

if TYPE_CHECKING:
    from bugzoo.diagnostics.numbers import Number

ALARMS = loss.TABLE | updates.TABLE | data.TABLE | model.TABLE | machine.TABLE
MORE = updates.MORE | data.MORE
PASSES = "What passes is a run in which it raises no alarm."
"""What would pass, for an instrument without a sentence."""
MOST = 2
"""Numbers in the sentence of an instrument that has none of its own."""


def title(name: str) -> str:
    """Return an instrument's title in plain words; "" for a name that is not an instrument's."""
    if name in ALARMS:
        return ALARMS[name][0]
    from bugzoo.diagnostics import names

    return name.replace("_", " ").capitalize() if name in names() else ""


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
    try:
        more = MORE.get(name)
        known = dict(numbers) | (more(numbers) if more else {})
        fitting = [(saw, wanted) for holds, saw, wanted in ALARMS.get(name, ("", []))[1] if holds(known)]
        about = [one for one in fitting if any(_says(one[0], key) for key in keys)]
        for saw, wanted in [*about, *fitting][:1]:
            return saw.format_map(known), wanted.format_map(known)
    except (KeyError, TypeError, ValueError):  # a submission's process may return any numbers
        pass
    return _labeled(name, numbers), PASSES


def _says(sentence: str, key: str) -> bool:
    """Return whether a sentence has a field for a number."""
    return any(field == key for _, field, _, _ in Formatter().parse(sentence))


def _labeled(name: str, numbers: Numbers) -> str:
    """Return the instrument's own labels with the measured and the usual values, one sentence each."""
    from bugzoo.diagnostics import question
    from bugzoo.diagnostics.numbers import of_instrument

    record = {key: number for key, number in of_instrument(name).items() if number.label}
    known = [key for key in record if _is_number(numbers.get(key))]
    first = sorted(known, key=lambda key: not record[key].usual)[:MOST]  # those with a usual value come first
    asked = f"One question was asked of the run: {question(name)}"
    return " ".join([asked, *(_sentence(record[key], numbers[key]) for key in first)])


def _sentence(number: "Number", value: float) -> str:
    usual = number.usual_text()
    return f"Measured: {number.label}: {value:.3g}" + (f" (usually {usual})." if usual else ".")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
