"""Choices that are the same for the same words, on any machine and Python: a seed, and a value for an open parameter.

The derivation is versioned. Version 1 is frozen: a test holds its values. A change needs a new version beside it.

A spec may leave a parameter open: `numerics/log_at_step?step=40..60&eps=0`. `settle` closes it.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from bugzoo import faults
from bugzoo.errors import UserError

VERSION = 1
_RANGE = re.compile(r"^(?P<low>.+?)\.\.(?P<high>.+)$")

Pick = Callable[[str, float, float, bool], float]
"""(label, low, high, whole numbers only) -> a value from low to high, both included."""


@dataclass(frozen=True)
class Draw:
    """A stream of choices, such as those for one student and one assignment."""

    key: bytes

    @property
    def tag(self) -> str:
        """Twelve hexadecimal digits for the notebook's metadata; with the manifest they identify the student."""
        return hmac.new(self.key, b"tag", hashlib.sha256).hexdigest()[:12]

    def share(self, label: str) -> float:
        """Return a number in [0, 1) for this label, the same at every call."""
        digest = hmac.new(self.key, label.encode(), hashlib.sha256).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    def pick(self, label: str, low: float, high: float, whole: bool) -> float:
        """Return a value from `low` to `high`: a uniform whole number, or four significant digits."""
        if whole:
            return int(low) + int(self.share(label) * (int(high) - int(low) + 1))
        return min(max(float(f"{low + self.share(label) * (high - low):.4g}"), low), high)


def draw(secret: str, assignment: str, student: str, attempt: int = 0, version: int = VERSION) -> Draw:
    """Return the choices of one student. `attempt` counts up when a variant does not show its faults.

    Raises UserError for a version that this bugzoo does not know.
    """
    if version != 1:
        raise UserError(f"This bugzoo does not know variants of version {version}, only version 1. Update bugzoo.")
    words = ["bugzoo-variant", 1, assignment, student, attempt]
    message = json.dumps(words, ensure_ascii=True, separators=(",", ":"))
    return Draw(hmac.new(secret.encode(), message.encode(), hashlib.sha256).digest())


def middle(label: str, low: float, high: float, whole: bool) -> float:
    """Return the middle value, for an assignment without students."""
    return (int(low) + int(high)) // 2 if whole else (low + high) / 2


def settle(spec: str, pick: Pick = middle) -> str:
    """Return `spec` with a value for every open parameter. Raises UserError for an invalid range."""
    name, mark, rest = spec.strip().partition("?")
    if ".." not in rest:
        return spec.strip()
    fault, pairs = faults.load(name), []
    for pair in rest.split("&"):
        key, _, value = pair.partition("=")
        match = _RANGE.match(value)
        if match and key in fault.params:
            whole = isinstance(fault.params[key].default, int)
            low, high = (_number(spec, key, match[side], whole) for side in ("low", "high"))
            if low > high:
                raise UserError(f"{spec}: {key}={value} runs backwards; write {key}={match['high']}..{match['low']}.")
            least, most = fault.params[key].low, fault.params[key].high
            if not least <= low <= high <= most:  # both ends, though only the middle is proved first
                raise UserError(f"{spec}: {key}={value} is not allowed; {key} must be from {least:g} to {most:g}.")
            pair = f"{key}={pick(f'{name}?{key}', low, high, whole):g}"
        pairs.append(pair)
    return f"{name}{mark}{'&'.join(pairs)}"


def _number(spec: str, key: str, text: str, whole: bool) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        kind = "whole numbers" if whole else "numbers"
        raise UserError(f"{spec}: {text!r} is not a range for {key}; write two {kind}, such as {key}=40..60.") from None
