"""The map: what is done is what the record says, the next step follows the way, and no lesson or exercise is left out."""

import json
import time
from dataclasses import replace
from math import ceil

import pytest

from bugzoo import guide, lessons, material, record
from bugzoo.errors import UserError
from bugzoo.grading.declared import everything as declared
from bugzoo.guide import done, notebook, plans, shown
from bugzoo.lab import page


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(record, "_told", set())
    monkeypatch.setattr(record, "_unwritten", [])


def exercises() -> list[str]:
    return list(declared())


def numbered() -> list[str]:
    return [name for name in lessons.files() if name[:2].isdigit() and name[:2] != "00"]


def finish(name: str, parts: int | None = None) -> None:
    """Answer and hold everything of a lesson, or its first `parts`."""
    lesson = lessons.load(name)
    cells = [cell for cell in lesson.cells if cell.kind in ("predict", "check", "task")]
    what = {
        "predict": ("prediction", {"said": "a", "revealed": True, "right": False}),
        "check": ("quick check", {"tries": ["a"], "solved": True}),
        "task": ("task", {"held": True}),
    }
    for cell in cells[:parts]:
        kind, value = what[cell.kind]
        record.keep(kind, f"{lesson.number}/{cell.name}", value)


def run_through(name: str) -> None:
    """What Run All leaves behind: nothing is said, and no task holds."""
    lesson = lessons.load(name)
    for cell in lesson.of("predict"):
        record.keep("prediction", f"{lesson.number}/{cell.name}", {"said": "", "revealed": True, "right": False})
    for cell in lesson.of("task"):
        record.keep("task", f"{lesson.number}/{cell.name}", {"held": False})


def card(fault: str, right: bool) -> None:
    record.note("X-1", "card", {"fault": fault, "right": right, "line": 3, "seconds": 2.0})


def interview(points: float = 60) -> None:
    record.end_interview(
        record.start_interview("X-1", 3, 5, material.root()), "finished", {"points": points, "of": 100}
    )


def everything() -> None:
    for name in numbered():
        finish(name)
    for name in exercises():
        record.attempt(name, "repair", "passed", 7, 7)
    for _ in range(10 * plans.WEEKS):
        card("loss/x", True)
    for _ in range(5):
        interview()


def test_on_the_first_day() -> None:
    now = guide.standing()
    assert [one.name for one in now.lessons] == numbered() and [one.name for one in now.exercises] == exercises()
    assert {one.state for one in (*now.lessons, *now.exercises)} == {"open"}
    assert (now.cards, now.interviews, now.way, now.weakest) == ({}, (), "", "")
    first = guide.next_step()
    assert first and first.name == numbered()[0] and first.link == f"notebooks/{numbered()[0]}.ipynb"
    assert not record.path().exists(), "looking makes no file"


def test_no_way_leaves_out_what_belongs_to_it() -> None:
    every = guide.ways()
    assert list(every) == ["course", "weekend", "hour", "mine"]
    held = [(step.kind, step.name) for step in every["course"].steps]
    assert [name for kind, name in held if kind == "lesson"] == numbered()
    assert [name for kind, name in held if kind == "exercise"] == exercises()
    assert every["hour"].minutes <= plans.HOUR and every["weekend"].minutes <= plans.DAYS * plans.DAY
    assert len(every["course"].parts) <= plans.WEEKS and len(every["weekend"].parts) <= plans.DAYS
    for way in every.values():
        assert all(part.steps for part in way.parts)
        for step in way.steps:
            assert step.link or step.command, step
            assert not step.link or (material.root() / step.link.partition("#")[0]).is_file(), step


def test_half_done() -> None:
    first = numbered()[0]
    finish(first, 3)
    record.attempt("07_sudden_nan", "repair", "wrong", 2, 7)
    for right in (True, False, False, False):
        card("numerics/log_at_step", right)
    card("sample_pack:loss/other", True)
    interview(70)
    now = guide.standing()
    assert (now.lessons[0].state, now.lessons[0].done) == ("begun", 3)
    mine = next(one for one in now.exercises if one.name == "07_sudden_nan")
    assert (mine.state, mine.attempts, mine.best, mine.lesson) == ("begun", 1, 2.0, 3)
    assert now.cards == {"loss": (1, 1), "numerics": (1, 4)} and now.weakest == "numerics" and now.best == 0.7
    text = shown.text(guide.ways(now)["course"], now, full=True)
    assert f"go on (3 of {now.lessons[0].of})" in text and "1 attempt, best 2" in text
    assert "Cards: 5 answered, 40% right (loss 1 of 1, numerics 1 of 4)" in text and "the best 70% of" in text
    assert "5 of 10" in text, "the cards of the first week have begun"
    steps = [step.command for step in guide.ways(now)["course"].steps if step.kind == "cards"]
    assert steps[0] == "bugzoo cards --count 10 --family numerics"

    finish(first)
    order = [step.name for step in guide.ways()["course"].steps]
    following = guide.next_step()
    assert following and following.name == order[1]
    for name in numbered():
        finish(name)
    for name in exercises():
        if name != "07_sudden_nan":
            record.attempt(name, "repair", "passed", 7, 7)
    for _ in range(10 * plans.WEEKS):
        card("loss/other", True)
    following = guide.next_step()
    assert following and (following.kind, following.name) == ("exercise", "07_sudden_nan")
    record.attempt("07_sudden_nan", "repair", "passed", 7, 7)
    record.attempt("07_sudden_nan", "repair", "wrong", 0, 7)
    assert guide.next_step() != following, "what has passed stays passed"


def test_a_lesson_that_was_only_run_through_is_begun_and_a_few_left_out_do_no_harm() -> None:
    name = numbered()[0]
    run_through(name)
    mine = guide.standing().lessons[0]
    assert (mine.state, mine.done) == ("begun", 0)
    enough = ceil(done.ENOUGH * mine.of)
    finish(name, enough - 1)
    assert guide.standing().lessons[0].state == "begun"
    finish(name, enough)
    assert guide.standing().lessons[0].state == "done"
    record.keep("task", f"{name[:2]}/of_an_older_version", {"held": True})
    assert guide.standing().lessons[0].done == enough, "a question that is no more does not count"


def test_everything_done() -> None:
    everything()
    every = guide.ways()
    assert every["course"].next is None and every["weekend"].next is None and every["hour"].next is None
    now = guide.standing()
    assert shown.NOTHING_LEFT in shown.text(every["course"], now) and shown.NOTHING_LEFT in shown.page(
        every["course"], now
    )
    ill = guide.next_step("mine")
    assert ill and ill.command == "bugzoo checkup train.py", "a run can be ill at any time"


def test_the_next_step_follows_the_way_and_counts_from_its_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(40):
        card("loss/x", True)
    interview()
    assert guide.next_step("hour") and guide.standing().way == ""
    clock = time.time() + 100
    monkeypatch.setattr(time, "time", lambda: clock)
    guide.way("hour")
    following = guide.next_step()
    assert following and following.kind == "interview", "the one of last week does not count"
    guide.begin("hour")
    clock += 100
    interview()
    guide.begin("hour")
    following = guide.next_step()
    assert following and following.kind == "cards", "chosen again in between, it goes on"
    for _ in range(30):
        card("loss/x", True)
    task = guide.next_step()
    assert task and task.kind == "exercise"
    record.attempt(task.name, "repair", "passed", 7, 7)
    assert guide.ways()["hour"].parts[0].steps[2].name == task.name, "a plan does not run away"
    interview()
    assert guide.next_step() is None
    clock += 100
    guide.begin("hour")
    again = guide.ways()["hour"]
    assert again.next == again.steps[0] and again.steps[2].name != task.name, "it begins anew"
    guide.way("course")
    assert guide.standing().way == "course"


@pytest.mark.parametrize(("call", "name"), [(guide.way, "weeknd"), (guide.show, "weeknd"), (guide.next_step, "weeknd")])
def test_an_unknown_way_is_told_with_the_nearest(call, name) -> None:
    with pytest.raises(
        UserError, match=r"no way named 'weeknd'\. Did you mean weekend\?.*course, hour, mine or weekend"
    ):
        call(name)
    assert guide.standing().way == ""


def test_weeks_are_even_and_keep_the_order() -> None:
    lesson = guide.standing().lessons[0]
    task = guide.standing().exercises[0]
    many = [
        plans.Unit(n, replace(lesson, number=n, minutes=40 + n % 3 * 20), (replace(task, lesson=n),) * 3, ())
        for n in range(1, 21)
    ]
    weeks = plans.deal(many, plans.WEEKS)
    assert len(weeks) == plans.WEEKS and [unit.number for week in weeks for unit in week] == list(range(1, 21))
    lengths = [sum(step.minutes for unit in week for step in unit.steps()) for week in weeks]
    assert max(lengths) <= 2 * 140, "never three lessons in a week, where two are enough"
    assert plans.deal(many[:2], plans.WEEKS) == [[many[0]], [many[1]]] and plans.deal([], 3) == [[]]


def test_exercises_whose_lesson_is_not_written_have_their_place() -> None:
    now = guide.standing()
    alone = replace(now, lessons=now.lessons[:1])
    held = [step.name for step in guide.ways(alone)["course"].steps if step.kind == "exercise"]
    assert held == exercises()
    empty = done.Standing((), ())
    assert all(way.next for way in guide.ways(empty).values()), "cards, interviews and commands are always there"
    assert "no lesson yet" in shown.page(guide.ways(alone)["course"], alone)


def test_text_and_page_say_the_same(capsys) -> None:
    finish(numbered()[0], 2)
    here = guide.show("weekend")
    printed = capsys.readouterr().out
    assert printed.startswith(str(here)) and 'guide.way("NAME")' in printed
    html = shown.page(here.way, here.now)
    for part in here.way.parts:
        assert part.title in html and part.title in printed
    assert (
        f'href="{numbered()[0]}.ipynb"' in html and 'href="../exercises/' in html and 'href="interview.ipynb"' in html
    )
    assert "A weekend" in repr(here) and html.count("<details open>") == 1


def test_a_click_takes_a_way_and_the_plan_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    from ipywidgets.widgets.tests.utils import setup_test_comm, teardown_test_comm

    class Page:
        def update(self, what, raw):
            self.said = what

    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    setup_test_comm()
    try:
        put = []
        monkeypatch.setattr(page, "put", put.append)
        here = guide.Map()
        here._buttons()
        choice = put[0].children[1]
        assert choice.value is None and len(choice.options) == 4
        here._page = Page()
        choice.value = "weekend"
        assert guide.standing().way == "weekend" and "A weekend" in here._page.said["text/html"]
        guide.Map()._buttons()
        assert put[1].children[1].value == "weekend", "a new kernel knows it"
    finally:
        teardown_test_comm()


def test_a_record_that_cannot_be_read_is_said_once_and_the_map_is_shown(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "data").mkdir()
    record.path().write_text("this is no database, and it is long enough to be noticed as such" * 20)
    for _ in range(2):
        guide.show()
        assert guide.seen() == 0
    printed = capsys.readouterr().out
    assert printed.count("Not kept for later") == 1 and "A course of 12 weeks" in printed
    with pytest.raises(UserError, match=r"record\.sqlite"):
        guide.standing()


def test_nothing_that_is_shown_names_a_fault() -> None:
    from bugzoo import faults

    everything()
    now = guide.standing()
    text = json.dumps([way.to_json() for way in guide.ways(now).values()]) + json.dumps(now.to_json())
    text += "".join(shown.page(way, now) for way in guide.ways(now).values())
    assert not [name for name in faults.catalogue() if name in text]


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_the_notebook_runs_twice_from_top_to_bottom(full, tmp_path, monkeypatch) -> None:
    from nbclient import NotebookClient

    if full:
        everything()
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    book = lessons.load("00").notebook()
    book.cells += lessons.load("00").notebook().cells
    for number, cell in enumerate(book.cells):
        cell.id = f"{cell.id}-{number}"
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    told = [cell.outputs[0].text for cell in book.cells if cell.get("outputs") and "guide.show" in cell.source]
    assert len(told) == 2 and told[0] == told[1]
    assert (shown.NOTHING_LEFT in told[0]) == full


def test_the_map_of_a_notebook_and_of_the_terminal_are_one(capsys) -> None:
    from bugzoo.cli import main

    notebook.begin("weekend")
    said = str(guide.Map())
    with pytest.raises(SystemExit):
        main(["progress"])
    assert capsys.readouterr().out.strip() == said.strip()
