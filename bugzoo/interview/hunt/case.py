"""The frozen case: one file for a whole panel, so that every candidate gets the same text and the same judge.

Readable in it are the brief, the text with the bugs, the public bar and the clock. The recipe, the healthy text and the proof are
packed (zlib, base64), so that nobody reads them by accident: whoever wants to can, and the file stays with the interviewer. One
hash over everything tells whether it was changed since.
"""

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bugzoo import dialects, programs
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.grading.grade import tidy
from bugzoo.grading.half_repairs import without
from bugzoo.interview.hunt.recipe import Recipe
from bugzoo.scenario import Scenario
from bugzoo.tickets import spelt

FORMAT = 1
MOST = 4 * 2**20
"""Bytes of a case file; ours have a thousandth of it."""
REWRITINGS = 8
WORDS = ("two", "three", "four", "five", "six", "seven")


@dataclass(frozen=True)
class Case:
    """What stands in the file. `bar`: metric, better, value and whether outputs must be identical to the reference's."""

    ticket: str
    minutes: int
    level: int
    brief: str
    source: str
    bar: dict[str, Any]
    recipe: Recipe
    dialect: str
    made: tuple[str, ...]
    """The dialects that the text is written in."""
    solution: str
    version: str
    hash: str = ""

    @cached_property
    def scenario(self) -> Scenario:
        """The bugs in today's catalogue. Raises UserError where they make another text than the frozen one."""
        if self.recipe.key != self.recipe.now():
            raise UserError(
                f"The case {self.ticket} was frozen by bugzoo {self.version}, and this bugzoo makes another text of its bugs, "
                "so that nobody can say which of them are gone. Score it with the bugzoo that froze it."
            )
        return self.recipe.scenario

    def without(self, *ids: str) -> str:
        """The frozen text with these bugs repaired, in its dialects."""
        return self.written(without(self.scenario, ids).source)

    def written(self, source: str) -> str:
        return dialects.apply(tidy(source), self.dialect, len(self.made), self.made)[0] if self.made else tidy(source)

    def lines(self, fault_id: str) -> list[tuple[int, int]]:
        """Line ranges (from 1) of the frozen text that a bug's edit changed."""
        from bugzoo.grading.diagnosis import changed_lines

        return changed_lines(self.without(fault_id), self.source)

    def to_json(self) -> dict[str, Any]:
        answers = {
            "recipe": self.recipe.to_json(),
            "dialect": self.dialect,
            "made": self.made,
            "solution": self.solution,
        }
        row = {
            "bugzoo_hunt": FORMAT,
            "ticket": self.ticket,
            "minutes": self.minutes,
            "level": self.level,
            "bar": self.bar,
            "brief": self.brief,
            "source": self.source,
            "answers": base64.b64encode(zlib.compress(json.dumps(answers).encode(), 9)).decode(),
            "version": self.version,
        }
        return row | {"hash": hashed(row)}


def hashed(row: dict[str, Any]) -> str:
    text = json.dumps({name: value for name, value in row.items() if name != "hash"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def freeze(recipe: Recipe, *, identical: bool = False, plain: bool = False) -> Case:
    """The case of a proved recipe. `plain` leaves the program in its own words; `identical` asks for the reference's outputs."""
    scenario, seed = recipe.scenario, f"{recipe.name}"
    broken, healthy = tidy(scenario.source), tidy(scenario.healthy().source)
    source, made = (broken, []) if plain else dialects.apply(broken, seed, REWRITINGS, dialects.in_sight())
    solution = dialects.apply(healthy, seed, len(made), made)[0] if made else healthy
    ticket = spelt(hashlib.blake2b(f"{recipe.name} {recipe.key} {identical}".encode(), digest_size=8).digest())
    bar = public_bar(recipe, identical)
    told = brief(recipe, ticket, bar)
    row = (
        ticket,
        recipe.minutes,
        recipe.level,
        told,
        source,
        bar,
        recipe,
        seed,
        tuple(made),
        solution,
        version("bugzoo"),
    )
    case = Case(*row)
    return Case(*row, case.to_json()["hash"])


def public_bar(recipe: Recipe, identical: bool = False) -> dict[str, Any]:
    """What everybody may know: the metric that the program prints, and what it has to reach."""
    facts, values = programs.load(recipe.program).facts, dict(recipe.healthy)
    metric, lower = facts["metric"], facts["better"] == "lower"
    low, high = facts["tiny_healthy"]
    # nobody is asked for more than the healthy program reaches on this seed
    value = max(high, values[metric]) if lower else min(low, values[metric])
    exact = {name: values[name] for name in sorted(values)} if identical else {}
    return {"metric": metric, "better": facts["better"], "value": round(float(value), 4), "identical": exact}


def brief(recipe: Recipe, ticket: str, bar: dict[str, Any]) -> str:
    """What the candidate is told. Level 1 has a complaint for each bug, 2 for those that show at first, 3 none."""
    reports = {fault.id: fault.report for fault, _ in recipe.scenario.specs}
    shown = {1: [name for wave in recipe.waves for name in wave], 2: list(recipe.waves[0]), 3: []}[recipe.level]
    more = (
        f"There are {WORDS[len(recipe.ids) - 2]} bugs in it."
        if recipe.level == 1
        else "More than one thing is wrong with it."
    )
    task = programs.load(recipe.program).facts["task"].replace("_", " ")
    lines = [
        f"# Hunt {ticket}",
        "",
        f"`train.py` trains a small model ({task}). {more} You have {recipe.minutes} minutes.",
        "",
    ]
    if shown:
        lines += ["What was said about it:", "", *(f"> {reports[name]}\n" for name in shown)]
    bound = "at most" if bar["better"] == "lower" else "at least"
    lines += [f"A repaired program ends with `{bar['metric']}` of {bound} {bar['value']:g}."]
    if bar["identical"]:
        exact = ", ".join(f"{name} {value:g}" for name, value in bar["identical"].items())
        lines += [f"It also has to print just what the reference prints: {exact}."]
    return "\n".join([*lines, "", RULES])


RULES = """\
- Change `train.py` as you like; keep `seed`, the data, the number of epochs, the size of the model, and the names `model` and
  `metrics`. What the program does is judged, on data that it has not seen; how it looks is not.
- Run what you like, read what you like. Each save is kept.
- Write into `FINDINGS.md` what you find, in your own words, as you go: what is wrong, in which line, how you know, what you
  changed.
- The public bar says pass or fail and no more: reaching it does not mean that every bug is gone.
"""


def load(path: Path) -> Case:
    """Raises UserError for what is no case file, one that was changed, or one of a newer bugzoo."""
    try:
        if path.stat().st_size > MOST:
            raise UserError(f"{path} has more than {MOST // 2**20} MiB, and a case file has some kilobytes.")
        row = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}. `bugzoo hunt make` writes a case file.") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path} is no case file of a hunt. `bugzoo hunt make` writes one.") from None
    if not isinstance(row, dict) or "bugzoo_hunt" not in row:
        raise UserError(f"{path} is no case file of a hunt. `bugzoo hunt make` writes one.")
    if row["bugzoo_hunt"] != FORMAT:
        raise UserError(
            f"{path} has format {row['bugzoo_hunt']!r}, and this bugzoo reads format {FORMAT}. Update bugzoo."
        )
    if row.get("hash") != hashed(row):
        raise UserError(f"{path} was changed after it was frozen. Use the file as `bugzoo hunt make` wrote it.")
    told = json.loads(zlib.decompress(base64.b64decode(row["answers"])))
    return Case(
        row["ticket"],
        row["minutes"],
        row["level"],
        row["brief"],
        row["source"],
        row["bar"],
        Recipe.from_json(told["recipe"]),
        told["dialect"],
        tuple(told["made"]),
        told["solution"],
        row["version"],
        row["hash"],
    )


def write(case: Case, path: Path) -> None:
    """Write the case file; one that is there is not overwritten. Raises UserError."""
    if path.exists():
        raise UserError(f"{path} exists; name another file with -o, or move it away.")
    write_atomic(path, json.dumps(case.to_json(), indent=1) + "\n")
