"""Decisions of a script, made as if what grows in them had grown past what stays.

Called by a script whose decisions were rewritten (`grading.moved_counters`): `step >= 4400` is there
`compared(0, (">=",), step, 4400)`. A decision that has come out in one way only, between a number that grows and
one that stays, is answered for a grown number too; all others are answered as they are. Nothing else of the script changes.
"""

import contextlib
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook

FIRST = 5
"""Optimizer steps that are only watched."""
MOSTLY = 0.9
"""Share of all changes of a number that go one way, where it grows: a number of the batch falls once an epoch."""
FEW, MANY = 2, 8
"""Least changes of a whole number, and of another one, from which on it is said to grow."""
EARLY, LATE = 1.5, 1.2
"""How much further than a run will get, as it seems in its first two thirds and after them, a number has to lie."""
FAR = (10**4, 10**6, 10**9)
"""Numbers that no training here reaches."""
MOST = 12
"""Most numbers to grow to, and most members of a container that are read."""
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "in": lambda one, many: one in many, "not in": lambda one, many: one not in many,
}  # fmt: skip


@dataclass
class Operand:
    """What one operand has been so far."""

    first: float | None = None
    last: float | None = None
    rose: int = 0
    fell: int = 0
    whole: bool = True

    def see(self, value: float | None, whole: bool) -> None:
        """Note the next value; None for what is no number."""
        if value is not None and self.last is not None:
            self.rose += value > self.last
            self.fell += value < self.last
        self.first = value if self.first is None else self.first
        self.last, self.whole = value, self.whole and whole

    def reaches(self, share: float) -> float:
        """Return about where it will be when the run has `share` times as many steps more as it has had."""
        assert self.first is not None and self.last is not None
        return self.last + share * (self.last - self.first)

    @property
    def way(self) -> int:
        """1 where it grows; -1 where it is a whole number that falls; else 0."""
        changes = self.rose + self.fell
        if self.last is None or changes < (FEW if self.whole else MANY):
            return 0
        return 1 if self.rose >= MOSTLY * changes else -1 if self.whole and self.fell >= MOSTLY * changes else 0

    @property
    def stays(self) -> bool:
        """Whether it has not changed."""
        return not self.rose and not self.fell


@dataclass
class Decision:
    """One decision: its operands, and whether it has come out in two ways."""

    operands: list[Operand]
    first: float | None = None
    both: bool = False

    @property
    def open(self) -> bool:
        """Whether it has come out in one way only, between a number that grows and one that stays."""
        stays = len(self.operands) == 1 or any(operand.stays for operand in self.operands)
        return not self.both and stays and any(operand.way for operand in self.operands)

    def see(self, outcome: float | None, values: Sequence[Any]) -> None:
        """Note one more outcome, None where it is no number, with its operands."""
        self.both = self.both or outcome is None or (self.first is not None and outcome != self.first)
        self.first = outcome
        for operand, value in zip(self.operands, values, strict=True):
            number = as_number(value)
            operand.see(number, number is not None and float(number).is_integer())


@dataclass
class Decisions:
    """All decisions of a script of `total` optimizer steps.

    `stretch`: steps in a row that get the same number; `start`: place of the first one.
    """

    total: int
    stretch: int = 1
    start: int = 0
    steps: int = 0
    """Optimizer steps so far."""
    known: dict[int, Decision] = field(default_factory=dict)
    ahead: list[float] = field(default_factory=list)
    behind: list[float] = field(default_factory=list)

    def made(
        self, place: int, values: Sequence[Any], outcome: Callable[..., Any], key: Callable[[Any], Any] | None = None
    ) -> Any:
        """Return the outcome of a decision. `values` are its operands, `outcome` decides on them; `key` says which way."""
        real = outcome(*values)
        with contextlib.suppress(Exception):  # an operand of any kind: then it is decided as it is
            known = self.known.get(place)
            if known is None or len(known.operands) != len(values):
                known = self.known[place] = Decision([Operand() for _ in values])
            known.see(as_number(key(real) if key else real), values)
            if not known.open:
                return real
            ways = [operand.way for operand in known.operands]
            beyond = [self._add(way, known.operands, values) for way in (1, -1) if way in ways]
            if all(beyond) and self.steps >= FIRST:
                return outcome(*(self._moved(value, way) for value, way in zip(values, ways, strict=True)))
        return real

    def _add(self, way: int, operands: list[Operand], values: Sequence[Any]) -> bool:
        """Add the numbers to grow to, this way, and return whether this decision has any that the run will not reach."""
        targets = self.ahead if way > 0 else self.behind
        staying = [value for value, operand in zip(values, operands, strict=True) if operand.stays]
        more = (EARLY if 3 * self.steps < 2 * self.total else LATE) * (self.total / max(self.steps, 1) - 1)
        end = max(way * operand.reaches(more) for operand in operands if operand.way == way)
        own = [number for value in staying for number in numbers(value)] if staying else [way * far for far in FAR]
        own = [number for number in own if way * number > end]
        for number in (*own, *(number + way for number in own), way * FAR[-1]):
            if own and number not in targets and len(targets) < MOST:
                targets.append(number)
        return bool(own)

    def _moved(self, value: Any, way: int) -> Any:
        targets = self.ahead if way > 0 else self.behind
        if not way or not targets:
            return value
        turn = (self.steps - FIRST) // self.stretch + self.start
        return value + (targets[turn % len(targets)] - as_number(value))


def as_number(value: Any) -> Any:
    """Return a number, or that of a tensor or array with one element; else None."""
    if isinstance(value, bool | int | float):
        return value if value == value else None
    if getattr(value, "shape", None) is not None and value.shape in ((), (1,)):
        return as_number(value.item())
    return None


def numbers(value: Any) -> list[float]:
    """Return the numbers of an operand that stays: its own, or those of a container; of a range both ends."""
    if isinstance(value, range):
        return [float(value.start), float(value.stop)]
    if isinstance(value, Iterable) and not hasattr(value, "shape"):
        return [one for one, _ in zip(map(as_number, value), range(MOST), strict=False) if one is not None]
    one = as_number(value)
    return [] if one is None else [one]


_now = Decisions(0)
_counts: Any = None


def begin(total: int, stretch: int, start: int) -> None:
    """Forget all decisions, and count the optimizer steps from here. See `Decisions`."""
    global _now, _counts
    _now = now = Decisions(total, stretch, start)

    def count(*_: Any) -> None:
        now.steps += 1

    if _counts is not None:
        _counts.remove()
    _counts = register_optimizer_step_post_hook(count)


def compared(place: int, signs: tuple[str, ...], *values: Any) -> Any:
    """Return what `values[0] signs[0] values[1] signs[1] ...` gives."""

    def outcome(*values: Any) -> Any:
        last = len(signs) - 1
        for at, (sign, one, other) in enumerate(zip(signs, values, values[1:], strict=False)):
            result = OPERATORS[sign](one, other)
            if at == last or not result:
                return result

    return _now.made(place, values, outcome)


def divided(place: int, one: Any, other: Any) -> Any:
    """Return `one // other`."""
    return _now.made(place, (one, other), operator.floordiv)


def called(place: int, function: Callable[..., Any], *values: Any) -> Any:
    """Return `function(*values)` of `min`, `max`, `int`, `bool` or `round`."""
    which = (lambda chosen: [one is chosen for one in values].index(True)) if len(values) > 1 else None
    return _now.made(place, values, function, which)


def looked_up(place: int, table: Any, key: Any, *default: Any) -> Any:
    """Return `table.get(key, *default)`: another outcome is another member of the table."""

    def which(found: Any) -> Any:
        return isinstance(table, dict) and key in table

    return _now.made(place, (key, table), lambda key, table: table.get(key, *default), which)
