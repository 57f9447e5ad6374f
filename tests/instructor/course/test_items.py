"""Item analysis: its numbers against numpy's, an item that sorts the class the wrong way, and real hand-ins."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bugzoo.instructor import Assignment, classroom, handout, key, records
from bugzoo.instructor.course import items
from bugzoo.instructor.key import Key
from bugzoo.instructor.records import Record
from bugzoo.instructor.tasks import AssignmentTask
from tests.instructor.class_of import answer, clear_gradients, hand_in, plain_loss

STALE, SOFT = "loop/stale_gradients", "loss/double_softmax"


@pytest.fixture(scope="module")
def task(small: Assignment) -> AssignmentTask:
    """Without its proof: what is graded here is not what was proved."""
    return AssignmentTask(Key(small, key.answers(small), 60.0, (0,), {}, 10.0))


def form(task: AssignmentTask, at: int) -> dict[str, Any]:
    one = task.answers("")[at]
    return {"cause": one.cause, "place": one.places[0][0], "evidence": one.evidence[:1]}


def record(task: AssignmentTask, name: str, share: float, failed: list[str], forms: list[dict[str, Any]]) -> Record:
    checks = [{"name": check, "status": "wrong", "saw": ""} for check in failed]
    repair = {"points": 7 * share, "max_points": 7.0, "share": share, "status": "wrong", "checks": checks}
    diagnosis = task.diagnosis(name, forms).to_json()
    points = round(7 * share + diagnosis["points"], 4)
    return Record(name, "wrong", points, 10.0, repair=repair, diagnosis=diagnosis, said=forms, by=task.fingerprint())


def class_of(task: AssignmentTask, number: int = 30) -> list[Record]:
    """The better half repairs everything and takes the second fault for another one; the worse half finds that by chance."""
    wrong = {"cause": next(word for word in words(task) if "data" in word), "place": 1, "evidence": []}
    draw, found = random.Random(0), []
    for at in range(number):
        good = at < number / 2
        forms = [form(task, 0), wrong] if good else [form(task, 1)] if draw.random() < 0.7 else []
        share = 1.0 if good and draw.random() < 0.9 else 0.3 if draw.random() < 0.5 else 0.0
        failed = (
            [] if share == 1.0 else ["double_normalisation"] if share else ["double_normalisation", "fresh_gradient"]
        )
        found.append(record(task, f"s{at:02}", share, failed, forms))
    return found


def words(task: AssignmentTask) -> list[str]:
    from bugzoo.diagnostics.causes import words as all_words

    true = {word for one in task.answers("") for word in one.causes}
    return [word for word in all_words() if word not in true]


def test_the_numbers(task: AssignmentTask) -> None:
    class_ = class_of(task)
    found = items.analyse(class_, task)
    assert found.students == 30 and not any("say little" in note for note in found.notes)
    by = {item.name: item for item in found.items}
    assert set(by) == {f"{kind} of {name}" for kind in ("repair", "finding") for name in (STALE, SOFT)}
    # once more with numpy: the finding of the first fault against all the rest of each student's points
    first = [float(bool(one.said and one.said[0] == form(task, 0))) for one in class_]
    second = [float(form(task, 1) in one.said) for one in class_]
    whole = [float(one.repair["share"] == 1.0) for one in class_ if one.repair]
    assert by[f"finding of {STALE}"].difficulty == pytest.approx(np.mean(first), abs=1e-4)
    stale = [float(one.repair["share"] > 0) for one in class_ if one.repair]  # what is left at 0.3 is the other one
    assert by[f"repair of {STALE}"].difficulty == pytest.approx(np.mean(stale), abs=1e-4)
    for name, own, rest in (
        (
            f"finding of {STALE}",
            first,
            [1.5 * b + 3.5 * c + 3.5 * d for b, c, d in zip(second, stale, whole, strict=True)],
        ),
        (
            f"repair of {SOFT}",
            whole,
            [1.5 * b + 1.5 * c + 3.5 * d for b, c, d in zip(first, second, stale, strict=True)],
        ),
    ):
        assert by[name].discrimination == pytest.approx(np.corrcoef(own, rest)[0, 1], abs=1e-4), name
    assert by[f"repair of {SOFT}"].upper == 1.0 and by[f"repair of {SOFT}"].lower == 0.0


def test_an_item_that_sorts_the_wrong_way_is_named(task: AssignmentTask) -> None:
    found = items.analyse(class_of(task), task)
    [bad] = [item for item in found.items if item.discrimination is not None and item.discrimination < 0]
    assert bad.name == f"finding of {SOFT}"
    assert any(f"The {bad.name} has negative discrimination" in note for note in found.notes)
    [drawn] = found.drawn
    assert drawn.count == 15 and drawn.lower <= 1 and drawn.upper >= 9
    assert any("is it perhaps true as well" in note for note in found.notes)
    assert next(iter(found.failed)) == "double_normalisation"


def test_few_and_alike(task: AssignmentTask) -> None:
    same = [record(task, f"s{at}", 1.0, [], [form(task, 0)]) for at in range(9)]
    found = items.analyse([*same, Record("zed", "not handed in", 0.0, 10.0)], task)
    assert "With 9 students, fewer than 10, the numbers say little." in found.notes and found.ungraded == 1
    assert {item.discrimination for item in found.items} == {None} and {item.upper for item in found.items} == {None}
    assert items.analyse([], task).students == 0


def test_correlation() -> None:
    draw = random.Random(1)
    x, y = ([draw.random() for _ in range(20)] for _ in range(2))
    assert items.correlation(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-4)
    assert items.correlation([1, 1, 1], [1, 2, 3]) is None and items.correlation([0, 1], [0, 1]) is None


@pytest.mark.usefixtures("sandboxed")
def test_real_hand_ins(task: AssignmentTask, tmp_path: Path) -> None:
    """Which of two faults was repaired is told by what the grader saw of real runs."""
    for name, mend, at in (("ben", clear_gradients, 0), ("cem", plain_loss, 1), ("dot", None, None)):
        made = json.loads(handout.build(task.key.assignment, "student", task.answers("")))
        if mend:
            mend(made)
        else:  # changed, and no better
            clear_gradients(made), plain_loss(made)
        if at is not None:
            answer(made, f"first.hand_in(**{form(task, at)!r})")
        hand_in(tmp_path / "in", name, made, task.name)
    graded = {one.student: one for one in classroom.grade_class(tmp_path / "in", task, tmp_path / "out")}
    kept = json.loads((tmp_path / "out" / "ben.json").read_text())
    assert kept["said"][0]["cause"] == task.answers("")[0].cause, "the forms are kept with the record"
    assert [graded[name].repair["share"] for name in ("ben", "cem", "dot")] == [0.3, 0.3, 1.0]  # type: ignore[index]
    shares = {
        name: items._repairs(one, task.case("")) | items._findings(one, task.answers(""))
        for name, one in graded.items()
    }
    stale, soft = f"repair of {STALE}", f"repair of {SOFT}"
    assert [(shares[name][stale], shares[name][soft]) for name in ("ben", "cem", "dot")] == [(1, 0), (0, 1), (1, 1)]
    assert (shares["ben"][f"finding of {STALE}"], shares["cem"][f"finding of {STALE}"]) == (1.0, 0.0)


def test_the_command(tmp_path: Path, bugzoo: Callable) -> None:
    for at in range(3):
        one = Record(f"s{at}", "wrong", 0.0, 10.0, by="old")
        one.repair = {"points": 0.0, "max_points": 7.0, "share": 0.0, "status": "wrong", "checks": []}
        one.said = [{"cause": "data that is not what one thinks\x1b[2J"}]
        records.make(tmp_path / "16_flat_loss")
        records.keep(tmp_path / "16_flat_loss", one)
    (tmp_path / "16_flat_loss" / "other.json").write_text("[]")
    done = bugzoo("items", str(tmp_path), "--assignment", "16_flat_loss", "--json", str(tmp_path / "items.json"))
    assert done.code == 0, done.err
    assert (
        "say little" in done.out
        and "3 of 3 results were graded with another key" in done.out
        and "\x1b" not in done.out
    )
    found = json.loads((tmp_path / "items.json").read_text())
    assert found["students"] == 3 and found["drawn"] == [
        {"cause": "(no cause of the form)", "count": 3, "upper": 0, "lower": 0}
    ]
    empty = bugzoo("items", str(tmp_path / "none"), "--assignment", "16_flat_loss")
    assert empty.code == 2 and "is no folder" in empty.err
    (tmp_path / "empty").mkdir()
    empty = bugzoo("items", str(tmp_path / "empty"), "--assignment", "16_flat_loss")
    assert empty.code == 2 and "holds no result" in empty.err
