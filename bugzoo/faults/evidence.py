"""Evidence as text -> numbers: what a fault file claims, looked up in what a run measured."""

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_COMPARE = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}
_CLAIM = re.compile(r"^(?P<left>[\w.]+) (?P<op>[<>]=?|==) (?P<right>\S+)$")


@dataclass(frozen=True)
class Claim:
    """`instrument.number > 0.5`, `metrics.accuracy < healthy`, or `outcome == crashed`."""

    left: str
    op: str
    right: str

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"

    @property
    def instrument(self) -> str:
        return self.left.split(".")[0]

    def holds(self, result: Mapping[str, Any], twin: Mapping[str, Any] | None = None) -> bool:
        """Whether the claim is true of a result. `twin` is the healthy run that `healthy` refers to.

        Results are the dicts of `measured()`. A number that was not measured makes every claim false.
        """
        if self.left == "outcome":
            return result["outcome"] == self.right
        value = number(result, self.left)
        other = number(twin, self.left) if self.right == "healthy" and twin is not None else float(self.right)
        if value is None or other is None:
            return False
        return _COMPARE[self.op](value, other)


def parse(text: str) -> Claim:
    """Raises ValueError for a text that is not a claim."""
    match = _CLAIM.match(text)
    if not match:
        raise ValueError(f"{text!r} is no claim; write `instrument.number > 0.5` or `metrics.name < healthy`")
    return Claim(match["left"], match["op"], match["right"])


def number(result: Mapping[str, Any], name: str) -> float | None:
    """`instrument.key` or `metrics.key` in a result. NaN counts as +inf: a lost loss is worse than any finite one."""
    group, _, key = name.partition(".")
    source = result.get("metrics") if group == "metrics" else result.get("numbers", {}).get(group)
    value = (source or {}).get(key)
    if value is None or isinstance(value, str):
        return None
    value = float(value)
    return math.inf if math.isnan(value) else value


def sign_test(agreeing: int, pairs: int) -> float:
    """One-sided exact sign-flip p-value for `agreeing` of `pairs` matched pairs: all 5 of 5 gives 1/32."""
    return sum(math.comb(pairs, k) for k in range(agreeing, pairs + 1)) / 2**pairs
