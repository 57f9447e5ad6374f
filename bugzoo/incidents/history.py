"""A program, a fault and a seed -> the texts of a history in which one commit broke the training.

Two chains of texts are written side by side, with the fault and without it, by the same rewritings in the same order. The
history shows the healthy chain up to the fault's commit and the broken one from it on, so that this commit holds the fault
and a rewriting. What can be seen of it in the diff is all that there is to be seen.
"""

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from bugzoo import dialects
from bugzoo.errors import UserError
from bugzoo.grading.grade import tidy
from bugzoo.incidents import messages
from bugzoo.scenario import Scenario

FEWEST, MOST = 12, 40
SCRIPT = "train.py"
DIALECTS = 0.6
"""Share of the commits that rewrite the script, at least."""
SETTINGS = re.compile(r"^(?P<name>epochs|steps) = (?P<value>\d+)$", re.MULTILINE)
SEED = re.compile(r"^seed = \d+$", re.MULTILINE)


@dataclass(frozen=True)
class Commit:
    """What one commit writes. `kind`: first, dialect, fault, note, config, slip (it does not run) or mended."""

    kind: str
    message: str
    files: dict[str, str]
    script: str
    """The script as it stands after this commit."""


@dataclass(frozen=True)
class History:
    scenario: Scenario
    commits: tuple[Commit, ...]
    fault: int
    """Index of the commit that broke the training."""
    healthy: str = field(repr=False)
    """The script of that commit without the fault."""

    @property
    def slip(self) -> int:
        """Index of the commit that does not run."""
        return next(number for number, one in enumerate(self.commits) if one.kind == "slip")

    def diff(self) -> list[str]:
        """The fault alone, in the words of its commit."""
        one, two = self.healthy.splitlines(), self.commits[self.fault].script.splitlines()
        return list(difflib.unified_diff(one, two, "without", "with", n=1, lineterm=""))


def check_count(count: int) -> None:
    """Raises UserError for a number of commits that no history has."""
    if not FEWEST <= count <= MOST:
        raise UserError(f"--commits {count} is not allowed; a history has from {FEWEST} to {MOST} commits.")


def write(scenario: Scenario, count: int) -> History:
    """The history of a scenario with one fault. Raises UserError where the program cannot be rewritten so often."""
    check_count(count)
    draw = Random(f"{scenario.seed}:{scenario.program}:{scenario.faults}:history")
    slip = (count - 1) // 2  # where halving looks first, so that nobody gets round it
    fault = draw.choice([n for n in range(count // 4, count - 1) if n not in (slip, slip + 1)])
    kinds = _kinds(count, fault, slip, draw)
    healthy, broken = tidy(scenario.healthy().source), tidy(scenario.source)
    ways, notes = _ways(draw), list(messages.NOTES)
    name, text = messages.START[1:]
    others, commits, repaired = {name: text}, [], healthy
    for number, kind in enumerate(kinds):
        files: dict[str, str] = {}
        if kind == "config" and not (SETTINGS.search(healthy) and SETTINGS.search(broken)):
            kind = "note"
        if kind == "first":
            said, files = messages.START[0], dict(others)
        elif kind in ("dialect", "fault"):
            healthy, broken, way = _rewritten(healthy, broken, ways, scenario)
            said = messages.of_dialect(way, draw)
        elif kind == "config":
            healthy, broken, said = _longer(healthy), _longer(broken), draw.choice(messages.CONFIG)
        elif kind == "note":
            name, line, said = notes.pop(0)
            others[name] = f"{others.get(name, '')}{line}\n"
            files = {name: others[name]}
        else:
            said = draw.choice(messages.SLIP if kind == "slip" else messages.MENDED)
        shown = healthy if number < fault else broken
        shown = _slipped(shown, draw) if kind == "slip" else shown
        if not commits or shown != commits[-1].script:
            files[SCRIPT] = shown
        commits.append(Commit(kind, said, files, shown))
        if number == fault:
            repaired = healthy
    return History(scenario, tuple(commits), fault, repaired)


def with_seed(script: str, seed: int) -> str:
    """The script under another seed: its line `seed = ...` stays where it is in every dialect."""
    return SEED.sub(f"seed = {seed}", script, count=1)


def _kinds(count: int, fault: int, slip: int, draw: Random) -> list[str]:
    fixed = {0: "first", fault: "fault", slip: "slip", slip + 1: "mended"}
    free = count - len(fixed)
    rewriting = max(round(DIALECTS * count) - 1, free - len(messages.NOTES) - 1)
    rest = ["dialect"] * rewriting + ["config"] + ["note"] * (free - rewriting - 1)
    draw.shuffle(rest)
    waiting = iter(rest)
    return [fixed.get(number) or next(waiting) for number in range(count)]


def _ways(draw: Random) -> Iterator[str]:
    names = dialects.in_sight()
    draw.shuffle(names)
    return iter(names)


def _rewritten(healthy: str, broken: str, ways: Iterator[str], scenario: Scenario) -> tuple[str, str, str]:
    """Both texts in the next dialect that fits both and says nothing else of the one than of the other."""
    apart = _apart(healthy, broken)
    for way in ways:
        one, two = (dialects.rewritten(text, way, scenario.seed) for text in (healthy, broken))
        if one is not None and two is not None and _apart(one, two) <= apart + 4:
            return one, two, way
    raise UserError(
        f"{scenario.program} cannot be rewritten as often as that many commits take. Take fewer (--commits), or "
        "another --program."
    )


def _apart(one: str, two: str) -> int:
    """Lines in which two texts differ."""
    return sum(line[:1] in "+-" for line in difflib.ndiff(one.splitlines(), two.splitlines()))


def _longer(script: str) -> str:
    return SETTINGS.sub(lambda found: f"{found['name']} = {int(found['value']) * 6 // 5 + 1}", script, count=1)


def _slipped(script: str, draw: Random) -> str:
    """The script without an import that it uses: Python reads it, and it ends before the first step."""
    lines = script.splitlines(keepends=True)
    tree = ast.parse(script)
    training = next((n for n, line in enumerate(lines, 1) if line.startswith("# %% Training")), len(lines))
    bound = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and node.lineno == node.end_lineno
        and _used(node, tree, training)
    ]
    chosen = draw.choice(bound)
    return "".join(lines[: chosen.lineno - 1] + lines[chosen.lineno :])


def _used(node: ast.Import | ast.ImportFrom, tree: ast.Module, before: int) -> bool:
    """Whether a line above `before` needs what an import binds, and no other import binds it."""
    names = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    others = {
        (alias.asname or alias.name).split(".")[0]
        for other in tree.body
        if other is not node and isinstance(other, ast.Import | ast.ImportFrom)
        for alias in other.names
    }
    reads = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and one.lineno < before}
    return bool(names & reads - others)
