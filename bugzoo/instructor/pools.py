"""A pool: many cases that are about equally hard, of which every student gets one, by the course secret.

    title = "Week 3"
    families = ["loss", "loop", "optimizer"]   # of faults; all when left out
    faults = ["modes/eval_mode_missing"]       # further ones, by id
    programs = ["mlp", "digits_cnn"]           # all when left out
    levels = [2, 3]                            # of each fault; all when left out
    together = 1                               # faults in a case: 1 to 3
    cases = 6                                  # how many different ones are drawn
    difficulty = 0.5                           # 0 the easiest of all, 1 the hardest; the middle of what fits when left out
    spread = 0.15                              # how far from it a case may lie
    dialects = 8                               # rewritings of everybody's text; 0 for none
    partial = 0.6                              # share for parts of a repair; a list is a curve from none to all of the faults
    weights = { loss = 2 }                     # of faults, by id, or of families, where a case has several; 1 when left out

What is drawn from is proved: single faults by `bugzoo verify`, several by `bugzoo pairs`. So nothing is refused that was drawn.
"""

import hashlib
import hmac
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.errors import UserError, unknown
from bugzoo.faults.model import Fault
from bugzoo.instructor.cases import Case, published
from bugzoo.instructor.credit import Credit
from bugzoo.instructor.model import DIALECTS, MOST
from bugzoo.instructor.variants import Draw
from bugzoo.scenario import parse_spec

_NUMBERS = {"together": (1, MOST), "cases": (1, 60), "dialects": (0, 40), "difficulty": (0, 1), "spread": (0, 1)}
_LISTS, _TEXTS = ("families", "faults", "programs", "levels"), ("title", "story")
_CREDIT = ("partial", "weights")
LEVELS = 5


@dataclass(frozen=True)
class Pool:
    """What a file says."""

    title: str = ""
    story: str = ""
    families: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    together: int = 1
    cases: int = 6
    difficulty: float | None = None
    spread: float = 0.15
    dialects: int = DIALECTS
    credit: Credit | None = None

    def takes(self, fault: Fault) -> bool:
        """Whether a fault is one of those that were asked for."""
        named = fault.id in self.faults or fault.family in self.families or not (self.faults or self.families)
        return named and (not self.levels or fault.level in self.levels)


def read(path: Path) -> Pool:
    """The pool of a file. Raises UserError with the key, the value and what is allowed."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--pool {path} could not be read: {getattr(error, 'strerror', None) or error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"--pool {path} is no TOML: {error}.") from None
    known = (*_TEXTS, *_LISTS, *_NUMBERS, *_CREDIT)
    credit = {name: found.pop(name) for name in _CREDIT if name in found}
    for name, value in found.items():
        if name not in known:
            raise unknown("key of a pool", name, sorted(known), "bugzoo assign --help")
        _check(path, name, value)
    for name in found.get("programs", ()):
        programs.load(name)
    for name in found.get("faults", ()):
        catalogue.load(name)
    families = sorted({fault.family for fault in catalogue.catalogue().values()})
    for name in found.get("families", ()):
        if name not in families:
            raise unknown("family", name, families, "bugzoo list faults")
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return Pool(**fields, credit=Credit.of(**credit) if credit else None)


def with_options(
    pool: Pool | None, families: Sequence[str], levels: Sequence[int], together: int | None, credit: Credit | None
) -> Pool:
    """The pool with what was said beside it. Raises UserError for a value that no file may hold either."""
    known = sorted({fault.family for fault in catalogue.catalogue().values()})
    for name in families:
        if name not in known:
            raise unknown("family", name, known, "bugzoo list faults")
    if bad := [level for level in levels if not 1 <= level <= LEVELS]:
        raise UserError(f"--level {bad[0]} is not allowed; levels go from 1 to {LEVELS}.")
    if together is not None and not 1 <= together <= MOST:
        raise UserError(f"--together {together} is not allowed; a case has from 1 to {MOST} faults.")
    said: dict[str, Any] = {
        "families": tuple(families),
        "levels": tuple(levels),
        "together": together,
        "credit": credit,
    }
    return replace(pool or Pool(), **{name: value for name, value in said.items() if value})


def _check(path: Path, name: str, value: Any) -> None:
    if name in _TEXTS and not isinstance(value, str):
        raise UserError(f"{path}: {name} = {value!r} is not allowed; it is a text.")
    kind = int if name == "levels" else str
    if name in _LISTS and not (isinstance(value, list) and all(type(one) is kind for one in value)):
        raise UserError(
            f"{path}: {name} = {value!r} is not allowed; it is a list of {'numbers' if kind is int else 'texts'}."
        )
    if name == "levels" and not all(one in range(1, LEVELS + 1) for one in value):
        raise UserError(f"{path}: levels = {value!r} is not allowed; levels go from 1 to {LEVELS}.")
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        whole = name not in ("difficulty", "spread")
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not low <= value <= high:
            raise UserError(
                f"{path}: {name} = {value!r} is not allowed; it is a {'whole ' * whole}number from {low} to {high}."
            )


def candidates(pool: Pool) -> list[Case]:
    """Every case that fits, the easiest first; all of them are proved."""
    known = catalogue.catalogue()
    found = []
    for one in published():
        ids = [parse_spec(spec)[0] for spec in one.faults]
        fit = len(ids) == pool.together and all(name in known and pool.takes(known[name]) for name in ids)
        if fit and (not pool.programs or one.program in pool.programs):
            found.append(one)
    return found


def choose(pool: Pool, secret: str, name: str) -> list[Case]:
    """The cases of a course: as many as the pool asks for, of those that `drawn` gives, the first."""
    return drawn(pool, secret, name)[: pool.cases]


def drawn(pool: Pool, secret: str, name: str) -> list[Case]:
    """All cases near one difficulty, in an order that only the secret knows: where one is refused, the next stands for it.

    No fault comes twice while there are others. Raises UserError where too few fit, with what would bring more.
    """
    every = candidates(pool)
    if not every:
        raise UserError("Nothing that is proved fits this pool: leave out `levels`, or name more families or programs.")
    centre = median(one.difficulty for one in every) if pool.difficulty is None else float(pool.difficulty)
    near = [one for one in every if abs(one.difficulty - centre) <= pool.spread]
    if len(near) < pool.cases:
        distances = sorted(abs(one.difficulty - centre) for one in every)
        enough = (
            f"a `spread` of {distances[pool.cases - 1]:.2f} brings enough"
            if len(every) >= pool.cases
            else (f"all that fits are {len(every)}")
        )
        raise UserError(
            f"{len(near)} cases lie within {pool.spread:g} of the difficulty {centre:.2f}, and {pool.cases} are asked for: "
            f"{enough}."
        )
    order = sorted(
        near,
        key=lambda one: hmac.new(
            secret.encode(), repr((name, one.program, one.faults)).encode(), hashlib.sha256
        ).digest(),
    )
    chosen: list[Case] = []
    while len(chosen) < len(order):  # round after round, each fault once
        seen: set[str] = set()
        for one in order:
            if one not in chosen and not seen & set(one.faults):
                chosen.append(one)
                seen |= set(one.faults)
    return chosen


def of(chosen: Draw, cases: Sequence[Case]) -> Case:
    """The case of one student."""
    return cases[int(chosen.share("case") * len(cases))]


def to_json(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """For the manifest."""
    return [
        {"program": one.program, "faults": list(one.faults), "difficulty": round(one.difficulty, 3)} for one in cases
    ]
