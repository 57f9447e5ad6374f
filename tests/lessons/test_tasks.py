"""What learners write is judged by what it does: any right way passes, a lazy one fails, an unfilled stub stops nothing."""

import contextlib
import io
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from bugzoo import course, lab, record
from bugzoo.course.book import notebook
from bugzoo.course.source import read
from bugzoo.errors import UserError
from bugzoo.lab import tryout, versions

TASKS = [(name, task) for name in course.files() for task in course.load(name).tasks]


def of(lesson: str, name: str):
    """(the task, what its judge's cell binds, a function that sees what a learner's code sees)."""
    task, names, namespace = course.load(lesson).task(name), {"__name__": "judge"}, {}
    exec(compile(task.judge, name, "exec"), names)
    exec(next(cell.text for cell in course.load(lesson).of("code") if cell.name == "setup"), namespace)
    return task, names, types.FunctionType((lambda: None).__code__, namespace)


@pytest.mark.parametrize(("lesson", "name"), TASKS)
def test_the_solution_and_other_right_ways_pass(lesson: str, name: str) -> None:
    task, names, beside = of(lesson, name)
    right = {"the solution": tryout.solution(task.solution, beside, name), **names["RIGHT"]}
    assert len(right) >= 2, "any right way passes: show another one"
    for way, answer in right.items():
        held, lines, _ = tryout.judged(task.judge, answer, name)
        assert held, f"{way}: {lines}"


@pytest.mark.parametrize(("lesson", "name"), TASKS)
def test_lazy_ways_fail_and_are_told_a_number(lesson: str, name: str) -> None:
    task, names, _ = of(lesson, name)
    assert len(names["LAZY"]) >= 3
    for way, answer in names["LAZY"].items():
        held, lines, _ = tryout.judged(task.judge, answer, name)
        assert not held, f"{way} passes"
        assert any("NOT" in line and "yours" in line for line in lines), f"{way}: {lines}"


@pytest.mark.parametrize(("lesson", "name"), TASKS)
def test_a_stub_is_told_so_and_the_lesson_goes_on(lesson: str, name: str, capsys: pytest.CaptureFixture) -> None:
    task, _, beside = of(lesson, name)
    stub = tryout.solution(task.stub, beside, name)
    number = course.load(lesson).number
    used = lab.try_out(f"{number}/{name}", stub)
    printed = capsys.readouterr().out
    assert "It returned None each time: the body is empty" in printed and "raised" not in printed
    assert "continues with the solution" in printed and used is not stub
    assert tryout.judged(task.judge, used, name)[0]
    entry = record.kept("task", f"{number}/{name}")
    assert entry == {"held": False, "tries": 0, "versions": []}, "the unchanged stub is not a try"
    assert "Hint:" not in printed
    again = lab.try_out(f"{number}/{name}", used)  # the same cell again: the stub is judged, not what stands in for it
    assert "continues with the solution" in capsys.readouterr().out and tryout.judged(task.judge, again, name)[0]


def test_code_that_raises_is_told_with_its_line(capsys: pytest.CaptureFixture) -> None:
    def wrong(loss, grad_norm):
        return loss.nonsense

    lab.try_out("03/first_bad_step", wrong)
    printed = capsys.readouterr().out
    assert "your code raised AttributeError" in printed and "return loss.nonsense" in printed


SMALL = """
# %% [markdown] title
# # 07 · Small

# %% [predict] how_many
# How many?
# ( ) One
#     no.
# (x) Two
#     yes, `two`.

# %% try
how_many.reveal("2.0 of them")

# %% [folded] read
# After the run: why `x > 0`
#
# It is **two**.

# %% [task] half
def half(x):
    ...

# %% try-half
half = lab.try_out("07/half", half)

# %% [solution] half
def half(x):
    return x / 2

# %% [judge] half
def judge(half):
    yield half(3) == 1.5, f"half of 3: yours says {half(3)}"
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "07_small.py").write_text(SMALL)
    monkeypatch.setattr(course, "PLACE", tmp_path)
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    return read(tmp_path / "07_small.py")


def test_the_cells_of_a_learner_and_of_a_proof(small) -> None:
    sources = {cell.id: cell.source for cell in notebook(small).cells}
    assert sources["how-many"] == 'how_many = lab.predict("07/how_many")'
    assert (
        sources["read"]
        == "<details><summary><b>After the run: why <code>x &gt; 0</code></b></summary>\n\nIt is **two**.\n\n</details>"
    )
    assert sources["half"] == "def half(x):\n    ..." and "return x / 2" in sources["half-solution"]
    assert sources["half-solution"].startswith("<details>") and "judge" not in json.dumps(sources)
    solved = {cell.id: cell.source for cell in notebook(small, solved=True).cells}
    assert solved["half"] == "def half(x):\n    return x / 2" and "half-solution" not in solved


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# %% [solution] half", "# %% [solution] hall", r"a task needs a cell `# %% \[solution\] half`"),
        ("# %% [judge] half", "# %% other", r"a task needs a cell `# %% \[judge\] half`"),
        ("# %% [task] half", "# %% half", r"there is no `# %% \[task\] half` for this cell"),
    ],
)
def test_a_task_is_whole(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "07_small.py").write_text(SMALL.replace(old, new))
    with pytest.raises(UserError, match=said):
        read(tmp_path / "07_small.py")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('how_many.reveal("2.0 of them")', "pass", "no later cell has how_many.reveal()"),
        ('half = lab.try_out("07/half", half)', "pass", 'no later cell has half = lab.try_out("07/half", half)'),
    ],
)
def test_a_prediction_is_revealed_and_a_task_tried(tmp_path: Path, old: str, new: str, said: str) -> None:
    from bugzoo.proving.lesson_proof import read_through

    (tmp_path / "07_small.py").write_text(SMALL)
    assert read_through(read(tmp_path / "07_small.py")) == []
    (tmp_path / "07_small.py").write_text(SMALL.replace(old, new))
    (problem,) = read_through(read(tmp_path / "07_small.py"))
    assert said in problem


def test_a_prediction_is_kept_and_not_graded_before_the_run(small, capsys: pytest.CaptureFixture) -> None:
    question = lab.predict("07/how_many")
    answer = question.say("a")
    assert answer.startswith("Saved: a)") and "no" not in answer.split(".")[0] and "yes" not in answer
    assert lab.predict("07/how_many").said == "a", "a new kernel knows it"
    capsys.readouterr()
    question.reveal("2.0 of them")
    assert capsys.readouterr().out.splitlines() == [
        "You said: a) One",
        "no.",
        "It was: b) Two (2.0 of them)",
        "yes, two.",
    ]
    assert "stays" in question.say("b") and question.said == "a", "nothing is said after the fact"
    assert record.kept("prediction", "07/how_many") == {"said": "a", "revealed": True, "right": False}


def test_a_prediction_that_was_right_or_never_made(small, capsys: pytest.CaptureFixture) -> None:
    question = lab.predict("07/how_many")
    question.reveal()
    assert "You said nothing before the run.\nIt was: b) Two\nyes, two." in capsys.readouterr().out
    question = lab.predict("07/how_many")
    question.say("b")
    question.reveal()
    assert capsys.readouterr().out.splitlines()[-3:] == ["You said: b) Two", "It was: b) Two", "yes, two."]
    with pytest.raises(UserError, match="The answers are a, b"):
        lab.predict("07/how_many").say("c")


HINTED = SMALL.replace(
    """def judge(half):
    yield half(3) == 1.5, f"half of 3: yours says {half(3)}"
""",
    """def judge(half):
    yield half(0) == 0, f"half of 0: yours says {half(0)}"
    yield half(3) == 1.5, f"half of 3: yours says {half(3)}", "// rounds down to a whole number."
    yield half(-3) == -1.5, f"half of -3: yours says {half(-3)}", "another hint."
""",
)


@pytest.fixture
def hinted(small, tmp_path: Path) -> None:
    (tmp_path / "07_small.py").write_text(HINTED)


def rounded_down(x):
    return x // 2


def doubled(x):
    return 2 * x


def whole(x):
    return int(x / 2)


def tried(answer, capsys: pytest.CaptureFixture) -> list[str]:
    capsys.readouterr()
    lab.try_out("07/half", answer)
    return capsys.readouterr().out.splitlines()


LAST = "The lesson continues with the solution for now. Change your code and run both cells again."


def test_a_first_failed_try_shows_what_failed_and_the_second_a_hint(hinted, capsys: pytest.CaptureFixture) -> None:
    first = ["  NOT  half of 3: yours says 1", "  NOT  half of -3: yours says -2", "  1 of 3 checks pass.", LAST]
    assert tried(rounded_down, capsys) == first
    assert tried(rounded_down, capsys) == first, "the same code is the same try"
    assert record.kept("task", "07/half")["tries"] == 1
    second = tried(whole, capsys)
    assert second[-2:] == ["Hint: // rounds down to a whole number.", LAST], "of the first failed case, and one line"
    assert sum("Hint" in line for line in second) == 1 and not any("half of 0" in line for line in second)
    assert record.kept("task", "07/half")["tries"] == 2
    assert "Hint: // rounds down to a whole number." in tried(rounded_down, capsys), "and so it stays"
    assert tried(lambda x: x / 2, capsys) == [
        "  ok   half of 0: yours says 0.0", "  ok   half of 3: yours says 1.5", "  ok   half of -3: yours says -1.5",
        "All checks pass. The lesson continues with your code.",
    ]  # fmt: skip
    entry = record.kept("task", "07/half")
    assert entry["held"] is True and entry["tries"] == 2


def test_tries_are_counted_over_restarts_and_old_records_are_read(hinted, capsys: pytest.CaptureFixture) -> None:
    record.keep("task", "07/half", {"held": False})  # of an earlier version
    assert not any("Hint" in line for line in tried(doubled, capsys))
    names: dict = {}
    exec("def half(x):\n    # a comment is no other code\n    return 2 * x\n", names)
    assert not any("Hint" in line for line in tried(names["half"], capsys)), "defined again, with the same code"
    exec("def half(x):\n    return 3 * x\n", names)
    assert any("Hint" in line for line in tried(names["half"], capsys))


def test_changed_code_in_a_helper_is_another_version() -> None:
    def version(text: str) -> str:
        names: dict = {"__name__": "__main__"}
        exec(text, names)
        return versions.version(names["half"])

    helper = "def by(x):\n    return {}\ndef half(x):\n    return by(x)\n"
    assert version(helper.format("x // 2")) == version("import math\n" + helper.format("x // 2"))
    assert version(helper.format("x // 2")) != version(helper.format("x // 3"))
    assert version("def half(x, by=2): return x // by") != version("def half(x, by=3): return x // by")
    assert version("def half(x): return half(x)") == version("def half(x): return half(x)")
    assert version("half = None") != version("def half(x): return None")


@pytest.mark.slow
def test_a_version_is_the_same_in_every_process() -> None:
    text = (
        "from bugzoo.lab.versions import version\n"
        "def half(x):\n    return [y for y in x if y in {'a', 'b', 'c', 'd'}] or (lambda: 'e')()\n"
        "print(version(half))"
    )
    other = str(int(os.environ.get("PYTHONHASHSEED", "random") != "1"))
    printed = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": other},
    ).stdout  # fmt: skip
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(text, {})
    assert printed == here.getvalue() != ""


def test_code_that_raises_gets_a_hint_of_its_failed_case_or_none(hinted, capsys: pytest.CaptureFixture) -> None:
    tried(doubled, capsys)
    lines = tried(lambda x: x / 0, capsys)
    assert "raised ZeroDivisionError" in lines[0] and len(lines) == 2, "no case of the judge failed, so it has no hint"


@pytest.mark.parametrize(("lesson", "name"), TASKS)
def test_every_task_has_hints_of_one_line(lesson: str, name: str) -> None:
    task, names, _ = of(lesson, name)
    hints = {way: tryout.verdict(task.judge, answer, name).hint for way, answer in names["LAZY"].items()}
    assert all(hints.values()), f"no hint for {[way for way, hint in hints.items() if not hint]}"
    assert len(set(hints.values())) >= 3, "a hint names the misconception, and those differ"
    assert all("\n" not in hint and len(hint.split()) <= 25 for hint in hints.values())
