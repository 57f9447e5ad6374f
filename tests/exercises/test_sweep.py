"""Before a diagnosis nothing in an exercise names a cause, and nothing hands out the healthy text."""

import re
import types
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from scipy.stats import binom

from bugzoo import diagnostics, faults, views
from bugzoo.diagnostics.causes import rows, tidy, words
from bugzoo.grading import cell, looks
from bugzoo.grading.answers import causes, offered, right, true_causes
from bugzoo.grading.exercises import exercises, load, with_diagnosis, with_program
from bugzoo.grading.texts import broken_text, healthy_text
from bugzoo.grading.workbench import Program
from bugzoo.views import show
from tests.sampling import only_in_prove

QUICKEST = "04_flat_loss"


@cache
def naming() -> tuple[str, ...]:
    """Everything that names a cause: the words of forms, what else people say, and the catalogue's own names."""
    phrases = {tidy(word) for word in words()} | {tidy(text) for row in rows().values() for text in row.also}
    stems = {tidy(fault_id.rsplit("/", 1)[1]) for fault_id in faults.catalogue()}
    # every run is spoken of in such words: they name a thing, and no cause
    usual = {
        "batch size",
        "learning rate",
        "half precision",
        "hidden state",
        "eval mode",
        "train mode",
        "loss function",
        "optimizer state",
        "weight decay",
    }
    return tuple(sorted(text for text in (phrases | stems) - usual if " " in text or text in stems))


def told(text: str) -> list[str]:
    plain = f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "
    return [name for name in naming() if f" {' '.join(re.findall(r'[a-z0-9]+', name))} " in plain]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == QUICKEST else only_in_prove(name) for name in with_program()])
def test_no_view_says_more_than_numbers(name: str) -> None:
    names = [tool for tool in views.names() if not views.reruns(tool)]
    for view, reading in looks.measured(names, load(name).handed_out).items():
        text = show.text(view, reading)
        assert told(text) == [], text
        assert not [tool for tool in diagnostics.names() if "_" in tool and tool in text and tool not in views.names()]
        for judged in diagnostics.names():
            assert f"{judged}." not in " ".join(show.seen(view, reading)), "a label is not an instrument's key"


@pytest.mark.parametrize("name", views.names())
def test_every_number_has_a_name_that_tells_nothing(name: str) -> None:
    assert views.rows(name) and told(" . ".join(row.label for row in views.rows(name))) == []
    assert told(views.question(name)) == [] and told(name.replace("_", " ")) == []


def test_this_search_finds_what_it_looks_for() -> None:
    assert told("it is gradients from earlier batches!") and told("double softmax") and told("stale_gradients")


@pytest.mark.parametrize("name", list(exercises()))
def test_tickets_and_hints_name_no_cause(name: str) -> None:
    exercise = load(name)
    findings = () if exercise.kind.name == "break" else range(len(exercise.faults))
    tests = " ".join(text for of in findings for text in offered(exercise, of).texts)
    assert told(f"{exercise.title} {exercise.story} {' '.join(exercise.hints)} {tests}") == []


def texts(thing: Any, depth: int = 5, seen: set[int] | None = None) -> list[str]:
    """Every text that hangs on an object, however it is held; modules and functions are not entered."""
    seen = set() if seen is None else seen
    if isinstance(thing, str):
        return [thing]
    if depth == 0 or id(thing) in seen or isinstance(thing, types.ModuleType | types.FunctionType | type):
        return []
    seen.add(id(thing))
    inside = (
        list(thing.items()) if isinstance(thing, dict) else list(thing) if isinstance(thing, tuple | list | set) else []
    )
    return [
        text for part in [*inside, *getattr(thing, "__dict__", {}).values()] for text in texts(part, depth - 1, seen)
    ]


@pytest.mark.parametrize("name", list(with_program()))
def test_no_object_of_the_notebook_holds_the_solution(name: str, capsys: Any) -> None:
    exercise = load(name)
    program = Program()
    program.begin(name)
    objects = {"program": program, "hints": cell.hints(name)}
    if exercise.kind.name != "break":
        objects["form"] = cell.form(name)
    solved = broken_text if exercise.kind.name == "break" else healthy_text
    solution, handed = (set(text.splitlines()) for text in (solved(exercise), exercise.handed_out))
    only = {line.strip() for line in solution - handed if len(line.strip()) > 12}
    assert only or exercise.kind.name != "break"
    held = texts(objects)
    assert exercise.handed_out.splitlines()[0] in "\n".join(held)
    assert [line for line in only for text in held if line in text] == []
    printed = capsys.readouterr().out + "".join(map(repr, objects.values())) + " ".join([*dir(program), *dir(cell)])
    assert told(printed) == []
    assert set(dir(cell)) == {"debrief", "diagnosis", "edit", "five", "form", "hints", "repair"}


def test_the_options_of_a_form_tell_nothing_by_their_length() -> None:
    extreme = {"tests": 0, "causes": 0}
    listed = [exercise for exercise in with_diagnosis().values() if not exercise.trap]  # "nothing" stands in every form
    cases = [replace(exercise, seed=seed) for exercise in listed for seed in range(6)]
    for case in cases:
        tests, options, causes_of_it = offered(case), causes(case), true_causes(case)
        length = len(tests.texts["ABCD".index(tests.letter)])
        assert all(abs(len(text) - length) <= 0.25 * length for text in tests.texts)
        extreme["tests"] += length in (max(map(len, tests.texts)), min(map(len, tests.texts)))
        assert set(causes_of_it) <= set(options) and "nothing is wrong" in options and len(options) == 8
        extreme["causes"] += len(causes_of_it[0]) in (max(map(len, options)), min(map(len, options)))
    # of four options two are the longest and the shortest, of eight causes too: no more than chance allows
    shares = {"tests": 2 / 4, "causes": 2 / 8}
    assert all(binom.sf(extreme[kind] - 1, len(cases), share) > 0.05 for kind, share in shares.items()), extreme


def test_both_causes_of_the_third_count_and_every_repairs_lines() -> None:
    solution = right(load("07"))
    assert solution.causes == (
        "a function outside its domain, such as log or sqrt",
        "a dtype with too little range or precision",
    )
    assert len(solution.places) > 1
