"""What learners write is judged by what it does: any right way passes, a lazy one fails, an unfilled stub stops nothing."""

import copy
import json
import linecache
import types
from pathlib import Path

import pytest
import torch

from bugzoo import course, lab, record
from bugzoo.course.book import notebook
from bugzoo.course.source import read
from bugzoo.errors import UserError
from bugzoo.lab import error_help, tryout

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
        assert any("FAIL" in line and ("yours" in line or ", got " in line) for line in lines), f"{way}: {lines}"


@pytest.mark.parametrize(("lesson", "name"), TASKS)
def test_a_stub_is_told_so_and_the_lesson_goes_on(lesson: str, name: str, capsys: pytest.CaptureFixture) -> None:
    task, _, beside = of(lesson, name)
    stub = tryout.solution(task.stub, beside, name)
    number = course.load(lesson).number
    used = lab.try_out(f"{number}/{name}", stub)
    printed = capsys.readouterr().out
    empty = not any(value is not None for value in tryout.judged(task.judge, stub, name)[2])
    assert ("It returned None each time: the body is empty" in printed) == empty and "raised" not in printed
    assert empty or "your code: it is right, and" in task.stub, "a stub that works is a program to mend, and says so"
    assert "continues with the solution" in printed and used is not stub
    assert tryout.judged(task.judge, used, name)[0]
    entry = record.kept("task", f"{number}/{name}")
    assert entry == {"held": False}
    assert ("help:" not in printed) == empty, "an empty body is not a wrong way"
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
    call = '\n\n\nhalf = lab.try_out("07/half", half)'
    assert sources["half"] == f"def half(x):\n    ...{call}" and "return x / 2" in sources["half-solution"]
    assert sources["half-solution"].startswith("<details>") and "judge" not in json.dumps(sources)
    solved = {cell.id: cell.source for cell in notebook(small, solved=True).cells}
    assert solved["half"] == f"def half(x):\n    return x / 2{call}" and "half-solution" not in solved


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
    ],
)
def test_a_prediction_is_revealed(tmp_path: Path, old: str, new: str, said: str) -> None:
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


JUDGED = """def judge(half):
    yield half(0) == 0, f"half of 0: yours says {half(0)}"
    yield half(3) == 1.5, f"half of 3: yours says {half(3)}", "// rounds down to a whole number."
    yield "half of -3", -1.5, half(-3), "// rounds down to a whole number."
    yield "half of 5", 2.5, half(5), "another help."
    yield "half of 7", 3.5, half(7), "one too many."
"""
HELPED = SMALL.partition("def judge")[0] + JUDGED


@pytest.fixture
def helped(small, tmp_path: Path) -> None:
    (tmp_path / "07_small.py").write_text(HELPED)


def rounded_down(x):
    return x // 2


def tried(answer, capsys: pytest.CaptureFixture) -> list[str]:
    capsys.readouterr()
    lab.try_out("07/half", answer)
    return capsys.readouterr().out.splitlines()


LAST = "The lesson continues with the solution for now. Change your code and run it again."


def test_a_failed_try_shows_what_failed_and_at_most_two_lines_of_help(helped, capsys: pytest.CaptureFixture) -> None:
    record.keep("task", "07/half", {"held": True, "tries": 3, "versions": ["a"]})  # of an earlier version
    assert tried(rounded_down, capsys) == [
        "FAIL  half of 3: yours says 1",
        "FAIL  half of -3: expected -1.5, got -2",
        "FAIL  half of 5: expected 2.5, got 2",
        "FAIL  half of 7: expected 3.5, got 3",
        "1 of 5 checks pass.",
        "help: // rounds down to a whole number.",
        "help: another help.",
        LAST,
    ]
    assert record.kept("task", "07/half") == {"held": False}
    assert tried(lambda x: x / 2, capsys) == [
        "ok    half of 0: yours says 0.0", "ok    half of 3: yours says 1.5", "ok    half of -3: -1.5",
        "ok    half of 5: 2.5", "ok    half of 7: 3.5", "All checks pass. The lesson continues with your code.",
    ]  # fmt: skip
    assert record.kept("task", "07/half") == {"held": True}


def test_help_stands_only_below_its_own_failed_check(helped, capsys: pytest.CaptureFixture) -> None:
    lines = tried(lambda x: x / 2 if x < 5 else 0, capsys)
    assert [line for line in lines if "help" in line] == ["help: another help.", "help: one too many."]
    assert not any("help" in line for line in tried(lambda x: 0 if not x else x / 2, capsys))


def test_what_cannot_be_compared_is_not_equal(helped, capsys: pytest.CaptureFixture) -> None:
    judgement = tryout.Verdict()
    judgement.add(("a pair", 1.0, torch.zeros(2)))
    assert judgement.lines == ["FAIL  a pair: expected 1.0, got tensor([0., 0.])"] and not judgement.helps


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("torch.ones(2) in [torch.ones(3)]", "Compare with `is`"),
        ("torch.ones(2) in [torch.ones(2)]", "Compare with `is`"),
        ("[torch.ones(3), torch.ones(2)].index(torch.ones(2))", "Compare with `is`"),
        ("[p + torch.ones(3) for p in [torch.ones(2)]]", "Print `.shape` of both"),
        ("1 if torch.ones(2) else 0", "`.any()` or `.all()`"),
        ("torch.nn.Embedding(96, 2)(torch.tensor([96]))", "An embedding got an index that does not exist"),
        ("torch.nn.Linear(3, 1)(torch.ones(2, 4))", "`in_features`"),
        ("torch.nn.Linear(3, 1).weight.add_(1)", "`with torch.no_grad():`"),
        ("torch.nn.Linear(3, 1).weight.numpy()", "`.detach()` before `.numpy()`"),
        ("copy.deepcopy(torch.nn.Linear(3, 1).weight * 2)", "`x.detach().clone()`"),
        ("torch.ones(1).sum().backward()", "The loss has no graph"),
        ("[loss.backward() for loss in [torch.nn.Linear(3, 1).weight.pow(2).sum()] * 2]", "Compute the loss again"),
        ("None + 1", "A value here is None"),
        ("torch.nn.Linear(3, 1).weight.grad.norm()", "A value here is None"),
        ("(lambda: 1)(x)", "Keep the first line of the task"),
        ("hafl(x)", "Check the spelling"),
        ("x / 0", ""),
    ],
)
def test_an_error_of_the_learners_code_has_help(
    helped, capsys: pytest.CaptureFixture, code: str, sentence: str
) -> None:
    names: dict = {"torch": torch, "copy": copy}
    source = f"def half(x):\n    return {code}\n"
    linecache.cache["<learner>"] = (len(source), None, source.splitlines(keepends=True), "<learner>")
    exec(compile(source, "<learner>", "exec"), names)
    lines = tried(names["half"], capsys)
    assert lines[0].startswith("FAIL  your code raised ") and f"return {code}" in lines[0]
    assert [line for line in lines if line.startswith("help: ")] == lines[1:-1] and lines[-1] == LAST
    assert sentence in "".join(lines[1:-1]) and bool(lines[1:-1]) == bool(sentence)


def test_a_task_adds_help_for_its_own_errors(helped, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "07_small.py").write_text(HELPED + '\n\nHELP = {r"^ZeroDivisionError": "0 has a half, too."}\n')
    assert tried(lambda x: x / 0, capsys)[1:] == ["help: 0 has a half, too.", LAST]
    assert "help: Check the spelling" in tried(lambda x: hafl(x), capsys)[1]  # noqa: F821


def test_help_for_errors_is_short() -> None:
    assert all(len(sentence.split()) <= 25 and "\n" not in sentence for sentence in error_help.HELP.values())


@pytest.mark.parametrize(("lesson", "name"), TASKS)
def test_every_task_has_help_of_one_line(lesson: str, name: str) -> None:
    task, names, _ = of(lesson, name)
    helps = {way: tryout.verdict(task.judge, answer, name).helps[:1] for way, answer in names["LAZY"].items()}
    assert all(helps.values()), f"no help for {[way for way, lines in helps.items() if not lines]}"
    sentences = {line for lines in helps.values() for line in lines}
    assert len(sentences) >= 3, "help names the misconception, and those differ"
    assert all("\n" not in line and len(line.split()) <= 25 for line in sentences)
