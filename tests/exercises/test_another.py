"""Another case of an exercise: drawn by its name alone, told with its own figures, and left alone by the builders."""

import json
import re
from pathlib import Path

import pytest

from bugzoo import material
from bugzoo.errors import UserError
from bugzoo.grading import another, files, healthy
from bugzoo.grading.another_button import AnotherButton
from bugzoo.grading.exercises import exercises, load, with_program
from bugzoo.grading.model import Exercise
from bugzoo.grading.texts import broken_text, same_program
from bugzoo.grading.trials import VIEWS
from bugzoo.lab.healthy_twin import Curve
from tests.exercises.test_stories import missing
from tests.exercises.test_sweep import told

ALL = [one for exercise in exercises().values() for one in another.ends(exercise)]


def test_every_exercise_has_four_tickets_that_differ() -> None:
    for exercise in exercises().values():
        stories = [exercise.story, *(ticket.story for ticket in exercise.tickets)]
        assert len(stories) == len(set(stories)) == 4, exercise.name


def test_a_name_gives_the_same_case_everywhere() -> None:
    case = load("04-1")
    assert case.name == "04_flat_loss-1" and load("04_flat_loss-1") == case
    assert load("30_the_letter_before") == load("30"), "a name of before"
    assert (case.scenario.ticket, load("04-4").scenario.ticket) == ("Z-6F20-MS57", "C-6HKS-7VDD")


@pytest.mark.parametrize("name", ["04-0", "04-x", "04-1.middle", "44-1", "04-12345"])
def test_no_such_case(name: str) -> None:
    with pytest.raises(UserError, match="exercise"):
        load(name)


def test_cases_of_one_ticket_differ_and_stay_between_its_ends() -> None:
    for exercise in with_program().values():
        cases = [another.case(exercise, 1 + 3 * turn) for turn in range(12)]
        low, high = another.ends(exercise)[:2]
        assert len({case.scenario.ticket for case in cases}) > 2, exercise.name
        assert all(case.program == low.program and low.seed <= case.seed <= high.seed for case in cases)
        original = exercise.program, exercise.faults, exercise.seed
        again = [another.case(exercise, number) for number in range(1, 40)]
        assert all((case.program, case.faults, case.seed) != original for case in again), "not the exercise itself"
        for of in range(len(exercise.faults)):
            for key, least in low.about_faults[of][1].items():
                most = high.about_faults[of][1][key]
                assert all(least <= case.about_faults[of][1][key] <= most for case in cases)


@pytest.mark.parametrize("name", [one.name for one in ALL])
def test_its_ticket_tells_no_cause_and_no_number_of_its_own(name: str) -> None:
    one = load(name)
    plain = re.sub(r"\{[^}]*\}", "", one.story)
    assert told(f"{one.title} {plain}") == [] and missing(plain, "") == []
    assert one.kind.name == "break" or not same_program(broken_text(one), broken_text(load(another.parted(name)[0])))


def test_the_figures_are_those_that_the_notebook_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means over tenths of a run; the twin's beside them."""
    runs = iter(
        [Curve(range(1, 21), [2.0] * 18 + [1.0, 0.5], [1.0] * 20, {"accuracy": 0.5}), Curve([1], [0.25], [1.0])]
    )
    monkeypatch.setattr(healthy, "recorded", lambda text, ranks: next(runs))
    case = load("04-1")
    story = "{run.first:.2f} {run.last:.2f} {run.highest:.0f} {run.accuracy:.0f} % {run.steps} {healthy.lowest:.2f}"
    calls: list[tuple[int, int]] = []
    changed = another.told(
        Exercise(case.title, story, case.program, case.fault, name=case.name), lambda *now: calls.append(now)
    )
    assert changed.story == "2.00 0.75 2 50 % 20 0.25" and calls == [(0, 2), (1, 2), (2, 2)]
    assert another.told(load("04")) == load("04"), "nothing is run for an exercise itself"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = Curve(range(1, 21), [1.0] * 20, [1.0] * 20, {"accuracy": 0.5, "loss": 1.0, "r2": 0.1})
    monkeypatch.setattr(healthy, "recorded", lambda text, ranks: curve)


@pytest.mark.usefixtures("quick")
def test_each_is_written_beside_the_last_and_reset_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "exercises").mkdir()
    first, second = (files.draw_another("04", tmp_path) for _ in range(2))
    assert [first.name, second.name] == ["04_flat_loss-1.ipynb", "04_flat_loss-2.ipynb"]
    text = first.read_text()
    assert "{run" not in text and 'program.begin("04_flat_loss-1", device)' in "".join(
        line for cell in json.loads(text)["cells"] for line in cell["source"]
    )
    first.write_text("mine")
    path, before = files.reset("04-1", tmp_path)
    assert path.read_text() == text and before is not None and before.read_text() == "mine"
    assert files.draw_another("04-2", tmp_path).name == "04_flat_loss-3.ipynb"
    assert not [problem for problem in files.stray(tmp_path) if "-1.ipynb" in problem]
    monkeypatch.setattr(material, "root", lambda: tmp_path)
    assert material.exercise_files() == [], "drawn cases are a learner's own"
    with pytest.raises(UserError, match="There is no folder"):
        files.draw_another("04", tmp_path / "none")


@pytest.mark.slow
def test_both_ends_are_proved_by_submissions_without_attacks() -> None:
    for case in ALL:
        kinds = [trial.kind for trial in case.kind.of_an_end(case)]
        assert {VIEWS, "solution", "unsolved"} <= set(kinds) and "attack" not in kinds


@pytest.mark.usefixtures("quick")
def test_the_button_writes_the_next_case_and_says_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    monkeypatch.chdir(tmp_path)  # a notebook's folder
    button = AnotherButton("04_flat_loss")
    button.show()
    for number in (1, 2):
        button.button.click()
        assert (tmp_path / f"04_flat_loss-{number}.ipynb").exists() and button.said.value == ""
    links = [link["data"]["text/markdown"] for link in button.links.outputs]
    assert links == [f"[04_flat_loss-{number}](04_flat_loss-{number}.ipynb)" for number in (1, 2)]

    def failing(text: str, ranks: int) -> Curve:
        raise UserError("The run ended as <crashed>.")

    monkeypatch.setattr(healthy, "recorded", failing)
    button.button.click()
    assert "&lt;crashed&gt;" in button.said.value and not button.button.disabled
    assert sorted(path.name for path in tmp_path.iterdir()) == ["04_flat_loss-1.ipynb", "04_flat_loss-2.ipynb"]


def test_of_recordings_the_button_opens_one_and_says_no_training(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    monkeypatch.chdir(tmp_path)
    button, messages = AnotherButton("02_five_beginnings"), []
    button.show()
    draw = files.draw_another
    monkeypatch.setattr(files, "draw_another", lambda name: messages.append(button.said.value) or draw(name))
    button.button.click()
    assert (
        "recordings" in messages[0]
        and "Training" not in messages[0]
        and (tmp_path / "02_five_beginnings-1.ipynb").exists()
    )
