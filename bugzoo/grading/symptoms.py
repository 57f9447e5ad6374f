"""An instrument's reading for a learner who repairs: what was measured, as a number, without its cause.

An instrument's own message may name the cause and would leave nothing to find.
"""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from bugzoo.grading.alarms import Numbers, data, loss, machine, model, updates

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
    from bugzoo.diagnostics import instrument, question

    labels: Mapping[str, tuple[str, str]] = getattr(instrument(name), "SHOWN", {})
    measured = {key: value for key, value in numbers.items() if key in labels and _is_number(value)}
    first = sorted(measured, key=lambda key: not labels[key][1])[:MOST]  # those with a usual value come first
    asked = f"One question was asked of the run: {question(name)}"
    return " ".join([asked, *(_sentence(labels[key], measured[key]) for key in first)])


def _sentence(said: tuple[str, str], value: float) -> str:
    label, usual = said
    return f"Measured: {label}: {value:.3g}" + (f" (usually {usual})." if usual else ".")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
