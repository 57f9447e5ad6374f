"""What a hunt is made from, and the list of those that were proved: `proofs/pool/hunts.json`, which travels with the package."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from bugzoo.errors import UserError, unknown
from bugzoo.files import write_atomic
from bugzoo.grading.grade import tidy
from bugzoo.proving import ledger
from bugzoo.proving.pool import shipped
from bugzoo.scenario import Scenario

FILE = "proofs/pool/hunts.json"
LENGTHS = {20: 3, 45: 4, 90: 6}
"""Minutes -> how many bugs; a program in which so many do not go together may have one less."""
LEVELS = (1, 2, 3)
FEWEST, MOST = 3, 6
KINDS = {
    "crash": ("crash",),
    "numerics": ("non_finite", "diverges"),
    "silent": ("stuck", "plateau", "degraded"),
    "evaluation": ("too_good", "noisy_eval"),
    "speed": ("slow", "leak"),
}
"""What an interviewer calls a bug -> symptom classes of the catalogue. A hunt has different ones as far as there are any."""


def kind_of(symptom: str) -> str:
    """The kind of a symptom class; "" for those that a hunt does not plant: what hangs, what needs a memory limit of its own,
    and what makes two runs of one text differ, as then nobody can say of another bug whether it is gone."""
    return next((name for name, classes in KINDS.items() if symptom in classes), "")


@dataclass(frozen=True)
class Recipe:
    """Program, faults (spec texts) and seed, for so many minutes at a level.

    `waves`: ids of the bugs that can be seen at first, then of those that show when these are repaired, and so on.
    `healthy`: the healthy twin's own metrics. `key`: hash of the text with all bugs in it, by which a recipe of another
    catalogue is known.
    """

    name: str
    program: str
    faults: tuple[str, ...]
    seed: int
    minutes: int
    level: int
    difficulty: float = 0.0
    waves: tuple[tuple[str, ...], ...] = ()
    healthy: tuple[tuple[str, float], ...] = ()
    key: str = ""

    @cached_property
    def scenario(self) -> Scenario:
        """Raises UserError where the faults do not go together."""
        return Scenario(self.program, self.faults, seed=self.seed)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(fault.id for fault, _ in self.scenario.specs)

    def now(self) -> str:
        """The key that today's catalogue gives it."""
        return hashlib.sha256(tidy(self.scenario.source).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Recipe":
        made: dict[str, Any] = dict(row)
        made["faults"] = tuple(row["faults"])
        made["waves"] = tuple(tuple(wave) for wave in row["waves"])
        made["healthy"] = tuple((name, value) for name, value in row["healthy"])
        return cls(**made)


def published() -> list[Recipe]:
    """The proved hunts, in the order of their names; empty where the list is not there."""
    place = shipped(FILE)
    rows = json.loads(place.read_text(encoding="utf-8")) if place else []
    return [Recipe.from_json(row) for row in rows]


def named(name: str) -> Recipe:
    """A proved hunt. Raises UserError for an unknown one, or for one whose faults are others by now."""
    found = {one.name: one for one in published()}
    if name not in found:
        raise unknown("hunt", name, found, "bugzoo hunt list")
    current(found[name])
    return found[name]


def current(recipe: Recipe) -> None:
    """Raises UserError where today's catalogue makes another text of it than the one that was proved."""
    if recipe.key != recipe.now():
        raise UserError(
            f"The hunt {recipe.name} was proved with other versions of its faults or of {recipe.program}, and nobody knows "
            "whether its bugs can still be seen. `bugzoo hunt prove` proves it again; `bugzoo hunt list` shows the others."
        )


def publish(recipes: list[Recipe]) -> None:
    """Write the list, where there is a ledger: a line each, so that a diff shows what came and went."""
    if home := ledger.home():
        rows = [json.dumps(one.to_json()) for one in sorted(recipes, key=lambda one: one.name)]
        write_atomic(home / "pool" / "hunts.json", "[\n" + ",\n".join(rows) + "\n]\n", parents=True)


def with_name(recipe: Recipe) -> Recipe:
    """Named by what it holds, so that the same recipe has the same name everywhere: `mlp-45-2-x4kq`."""
    text = repr((recipe.program, recipe.faults, recipe.seed, recipe.minutes, recipe.level))
    letters = hashlib.sha256(text.encode()).hexdigest()[:5]
    return replace(recipe, name=f"{recipe.program}-{recipe.minutes}-{recipe.level}-{letters}".replace("_", "-"))
