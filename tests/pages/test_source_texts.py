"""`docs/source_texts.md`: each of the 242 things once, every place that it names exists, and its counts are those of its rows."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from bugzoo import course, diagnostics, faults, programs, views
from bugzoo.cli import app, commands
from bugzoo.errors import UserError
from bugzoo.grading.exercises import exercises

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "source_texts.md").read_text(encoding="utf-8")
STATES = ("works", "partly", "fault only", "instrument only", "nothing")
ROW = re.compile(r"\| (\d+) \|(.*)\|")
COUNTS = re.compile(r"\| (S\d|all) \| (before|now) \|(.*)\|")
HIDDEN = ("proof", "measured", "judge", "case", "solution")
"""Kinds of cells that a learner does not reach, or only as the answer."""
RAW = {
    "fault only": ("fault", "family", "program", "instrument", "view"),
    "instrument only": ("instrument", "view", "bugzoo"),
}
"""State -> the kinds of places that it may name: a lesson or an exercise would be more."""


def rows(page: str) -> list[tuple[str, list[str]]]:
    """(text such as S1, [number, thing, state, where, missing, comes in]) for each row of the five tables."""
    entries, text = [], ""
    for line in page.splitlines():
        if line.startswith("## "):
            text = line.split()[1]
        elif row := ROW.fullmatch(line):
            entries.append((text, [row[1], *(cell.strip() for cell in row[2].split("|"))]))
    return entries


@cache
def names() -> dict[str, set[str]]:
    """Kind of place -> its names."""
    return {
        "view": set(views.names()), "instrument": set(diagnostics.names()), "program": set(programs.names()),
        "fault": set(faults.catalogue()), "family": {name.split("/")[0] for name in faults.catalogue()},
        "exercise": {name.split("_")[0] for name in exercises()},
    }  # fmt: skip


@cache
def reached(lesson: str) -> set[str]:
    """The cells of a lesson that a learner sees. Raises UserError for an unknown lesson."""
    return {cell.name for cell in course.load(lesson).cells if cell.kind not in HIDDEN}


def problem(place: str) -> str | None:
    """What is wrong with a place such as `02 overfit`, `exercise 25`, `view batch` or `bugzoo checkup --budget`."""
    kind, _, name = place.partition(" ")
    if kind in names():
        return None if name in names()[kind] else f"{place}: there is no such {kind}"
    if kind == "bugzoo":
        return None if a_command(name.split()) else f"{place}: there is no such command or option"
    if kind.endswith(".md"):
        return None if (ROOT / kind).is_file() else f"{place}: there is no such file"
    try:
        return None if name in reached(kind) else f"{place}: the lesson has no such cell"
    except UserError as error:
        return f"{place}: {error}"


def a_command(words: list[str]) -> bool:
    """Do these words name a command and, after it, options that it has?"""
    commands()
    command = every = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]  # type: ignore[attr-defined]
    options = {name for param in command.params for name in param.opts}
    return command is not every and set(words) <= options


def complaints(cells: list[str], written: set[str]) -> list[str]:
    """What is wrong with one row; `written`: the numbers of the lessons that exist."""
    number, thing, state, where, missing, comes = cells
    places = re.findall(r"`([^`]+)`", where)
    lessons = comes.split(", ") if comes else []
    unknown = [part for part in lessons if not re.fullmatch(r"open|cards|0[1-9]|1\d|20", part)]
    stale = [part for part in lessons if part in written]
    raw = [part for part in places if state in RAW and not part.startswith(RAW[state])]
    checks = {
        f"{len(thing.split())} words": not 1 <= len(thing.split()) <= 10,
        f"no state {state!r}": state not in STATES,
        "it works, so nothing is missing": state == "works" and bool(missing or comes),
        "what is missing?": state == "partly" and not missing,
        "only a row that is reached partly says what is missing": state != "partly" and bool(missing),
        "where?": state != "nothing" and not places,
        "it has a place": state == "nothing" and bool(where),
        f"more than {state}: {raw}": bool(raw),
        "which lesson will have it? (or: open, cards)": state != "works" and not lessons,
        f"no such lesson in the course: {unknown}": bool(unknown),
        f"lesson {stale} is written: say what it reaches, or open": bool(stale),
    }
    return [f"row {number}: {why}" for why, holds in checks.items() if holds] + [
        f"row {number}: {why}" for part in places if (why := problem(part))
    ]


def test_each_thing_is_there_once_and_every_place_exists():
    entries = rows(PAGE)
    assert [int(cells[0]) for _, cells in entries] == list(range(1, 243))
    assert {text for text, _ in entries} == {"S0", "S1", "S2", "S3", "S4"}
    written = course.numbers() - {"00"}
    assert [why for _, cells in entries for why in complaints(cells, written)] == []


def test_the_counts_are_those_of_the_rows():
    now = Counter((text, cells[2]) for text, cells in rows(PAGE))
    table = {(text, when): [int(cell) for cell in counts.split("|")] for text, when, counts in COUNTS.findall(PAGE)}
    texts = sorted({text for text, _ in now})
    assert set(table) == {(text, when) for text in [*texts, "all"] for when in ("before", "now")}
    for text in texts:
        counted = [now[text, state] for state in STATES]
        assert table[text, "now"] == [*counted, sum(counted)], text
        assert table[text, "before"][-1] == sum(table[text, "before"][:-1]) == sum(counted), text
    for when in ("before", "now"):
        assert table["all", when] == [
            sum(column) for column in zip(*(table[source, when] for source in texts), strict=True)
        ]
    assert table["all", "before"] == [30, 33, 87, 33, 59, 242]


GOOD = ["7", "Print the data", "works", "`01 look`, `exercise 31`, `bugzoo checkup --budget`, `view batch`", "", ""]


@pytest.mark.parametrize(
    "change",
    [
        {1: "Print the data " * 4}, {2: "fine"}, {2: "partly"}, {2: "nothing"}, {2: "fault only"}, {3: ""}, {5: "04"},
        {3: "`01 lock`"}, {3: "`01 look-proof`"}, {3: "`21 look`"}, {3: "`exercise 99`"}, {3: "`view bach`"},
        {3: "`bugzoo chekup`"}, {3: "`bugzoo checkup --bugdet`"}, {3: "`fault loop/nothing`"}, {3: "`docs/no.md`"},
        {2: "nothing", 3: "", 5: "01"}, {2: "nothing", 3: "", 5: "21"}, {2: "nothing", 3: ""},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_row_is_found(change):
    assert complaints(GOOD, {"01"}) == []
    assert complaints([change.get(place, cell) for place, cell in enumerate(GOOD)], {"01"})
