"""Level and minutes of an exercise: what they are made of, where they stand, and that they give nothing away."""

import json
from collections import Counter
from types import SimpleNamespace

import pytest

from bugzoo import faults
from bugzoo.grading import effort
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.notebook import build


def stated(name: str, kind: str = "student") -> dict[str, int]:
    """Level and minutes from a built notebook's metadata."""
    about = json.loads(build(load(name), kind))["metadata"]["bugzoo"]
    return {key: about[key] for key in ("level", "minutes")}


def test_the_formula() -> None:
    assert effort.minutes(["word " * 600], "x = 1\n\n" * 75, 2) == 20, "4 to read, 5 for the lines, 10 to work: 19"
    assert effort.minutes(["word " * 600], "", 1) == 10, "9, without a program"
    assert effort.minutes(["word " * 300, "word " * 300], "x = 1\n" * 75, 3) == 25, "24"


def test_the_level_is_the_faults_and_of_two_one_more() -> None:
    for name in ("04_flat_loss", "03_in_order", "27_small_parts", "29_through_the_wall", "02_five_beginnings"):
        exercise = load(name)
        assert effort.level(exercise) == faults.load(exercise.fault.partition("?")[0]).level, exercise.kind
    two = load("18_one_behind_the_other")
    single = [faults.load(fault).level for fault in two.faults]
    assert effort.level(two) == max(single) + 1 and single[0] != single[1]
    hardest = SimpleNamespace(about_faults=[(SimpleNamespace(level=5), {})] * 2)
    assert effort.level(hardest) == 5 and all(1 <= effort.level(listed) <= 5 for listed in exercises().values())


@pytest.mark.parametrize("name", list(exercises()))
def test_each_notebook_says_it_under_its_title(name: str) -> None:
    exercise, cell = load(name), json.loads(build(load(name)))["cells"][0]
    facts = stated(name)
    line = "".join(cell["source"]).splitlines()[2]
    assert line.startswith(
        f"Ticket **{exercise.scenario.ticket}** · level {effort.level(exercise)} of 5, about {facts['minutes']} min"
    )
    assert line.endswith(f"for lesson {exercise.lesson:02}") if exercise.lesson else line.endswith("minutes")
    assert facts == stated(name, "solution") == stated(name, "instructor"), "a filled-in notebook is as long"
    assert facts["level"] == effort.level(exercise) and facts["minutes"] % 5 == 0 < facts["minutes"]
    if exercise.kind.name != "five":
        text, longer = exercise.handed_out, exercise.handed_out + "x = 1\n" * 150
        texts = [
            "".join(part["source"]) for part in json.loads(build(exercise))["cells"] if part["cell_type"] == "markdown"
        ]
        assert (
            effort.minutes(texts, longer, effort.level(exercise))
            == effort.minutes(texts, text, effort.level(exercise)) + 10
        )


def test_neither_tells_that_nothing_is_wrong() -> None:
    """*repair*, *decoy* and *nothing* have one notebook. Each pair of level and minutes has mostly a fault behind it."""
    counts: dict[tuple[int, int], Counter[str]] = {}
    for name, exercise in exercises().items():
        if exercise.kind.name in ("repair", "decoy", "nothing"):
            counts.setdefault(tuple(stated(name).values()), Counter())[exercise.kind.name] += 1
    healthy = {pair: kinds for pair, kinds in counts.items() if kinds["nothing"]}
    assert healthy
    for pair, kinds in healthy.items():
        assert kinds["repair"] + kinds["decoy"] >= 2 * kinds["nothing"], (pair, kinds)
