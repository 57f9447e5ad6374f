"""`%%measured`: folded below its text, left out by Run All, in a process of its own with what it needs."""

from pathlib import Path

import pytest

from bugzoo import course, lab
from bugzoo.course.book import notebook
from bugzoo.course.names import changes, names_of, needs
from bugzoo.course.needs import needed, script
from bugzoo.course.source import read
from bugzoo.errors import UserError
from bugzoo.lab import measured
from bugzoo.proving.lesson_proof import read_through

TEXT = """
# %% [markdown] title
# # 07 · Small
#
# The twin ends at {1.5 = late}, the other one at {2 = two}.

# %% setup
import math
from bugzoo import lab

# %% aside
unused = 1 / 0

# %% [task] half
def half(x):
    ...

# %% [solution] half
def half(x):
    return x / 2

# %% [judge] half
def judge(half):
    yield half(3) == 1.5, "half of 3"

RIGHT, LAZY = {"by product": lambda x: x * 0.5}, {"none": lambda x: 0, "one": lambda x: 1, "all": lambda x: x}

# %% looks
looks = {}
for name in ("a", "b"):
    looks[name] = half(4)

# %% [proof] two-proof
two = looks["a"]

# %% [measured] late-runs
late = half(3) if looks["b"] == 2 else math.nan
print(late)

# %% [folded] read
# After the run: it ends
#
# It ends at {1.5 = late}, and not at {2 = two}.
"""


def small(folder: Path, old: str = "", new: str = "") -> course.Lesson:
    assert old in TEXT
    (folder / "07_small.py").write_text(TEXT.replace(old, new), encoding="utf-8")
    return read(folder / "07_small.py")


def test_a_cell_gets_the_cells_that_it_needs_and_no_other(tmp_path: Path) -> None:
    lesson = small(tmp_path)
    (cell,) = lesson.of("measured")
    assert [part.key for part in needed(lesson, cell)] == ["setup", "half", "looks"]
    assert script(lesson, cell)[1].strip().endswith("return x / 2"), "the task is solved"


@pytest.mark.parametrize(
    ("text", "bound", "needed", "changed"),
    [
        ("x = y + 1", {"x"}, {"y"}, set()),
        ("x = x + 1", {"x"}, {"x"}, set()),
        ("x = 1\nz = x", {"x", "z"}, set(), set()),
        ("for x in y:\n    if x:\n        continue\n    print(x)", {"x"}, {"y", "print"}, set()),
        (
            "looks[name] = f(1)\nview.stop()\na.b.c = 2",
            set(),
            {"looks", "name", "f", "view", "a"},
            {"looks", "view", "a"},
        ),
        ("def f():\n    return later", {"f"}, {"later"}, set()),
        ("[one for one in x]", set(), {"x"}, set()),
    ],
)
def test_names(text: str, bound: set[str], needed: set[str], changed: set[str]) -> None:
    assert (names_of(text)[0], needs(text), changes(text)) == (bound, needed, changed)


def test_it_is_folded_after_the_text_and_linked(tmp_path: Path) -> None:
    book = notebook(small(tmp_path))
    ids = [cell.id for cell in book.cells]
    assert ids[-2:] == ["read", "late-runs"] and "two-proof" not in ids
    cell = book.cells[-1]
    assert cell.source.splitlines()[:2] == [
        "%%measured 07/late-runs  # 1.5",
        'late = half(3) if looks["b"] == 2 else math.nan',
    ]
    assert cell.metadata.jupyter.source_hidden
    link = "[1.5](07_small.ipynb#cell-id=late-runs)"
    assert link in book.cells[0].source and link in book.cells[-2].source
    assert "and not at 2." in book.cells[-2].source
    proving = notebook(small(tmp_path), proofs=True)
    assert [cell.id for cell in proving.cells].index("late-runs") < [cell.id for cell in proving.cells].index("read")


def test_a_hidden_run_and_an_unneeded_cell_are_told(tmp_path: Path) -> None:
    assert read_through(small(tmp_path)) == []
    (problem,) = read_through(small(tmp_path, 'two = looks["a"]', 'two = looks["a"].run()'))[-1:]
    assert "the text has two from a run that no reader sees; make it [measured]" in problem
    problems = read_through(small(tmp_path, "{1.5 = late}", "`1.5`"))
    assert problems == ["07_small.py, line 36 (late-runs): no text needs what it measures; make it [proof]"]


def first() -> str:
    """Return the name of a real [measured] cell that needs few cells."""
    candidates = [
        (len(needed(lesson, cell)), f"{lesson.number}/{cell.key}")
        for lesson in map(course.load, course.files())
        for cell in lesson.of("measured")
    ]
    return min(candidates)[1]


@pytest.mark.slow
def test_it_runs_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader's own edit runs, an error is shown, and nothing is saved."""
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    name = first()
    lines = lab.measure(name).splitlines()
    lesson, cell = measured.find(name)
    labels = {claim.shown for claim in lesson.claims if claim.name in lesson.binds(cell)}
    assert labels and {line.rpartition(": ")[0] for line in lines} >= labels
    assert not any(line.endswith(": no") for line in lines)
    edited = measured.Measurement(name, f"{cell.text}\nprint('edited')\n").run()
    assert "edited" in edited.splitlines()
    assert measured.Measurement(name, "1 / 0").run().endswith("ZeroDivisionError: division by zero")
    assert list(tmp_path.iterdir()) == []


def test_running_the_cell_runs_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured.Measurement, "run", lambda self: pytest.fail("Run All runs it"))
    name = first()
    measured._cell(f"{name}  # 1.5 (about 10 s, after the first cell)", "late = 1")
    measured._cell(name, "late = 1")
    assert capsys.readouterr().out == 2 * f"Run All leaves this cell out. To run it: print(lab.measure('{name}'))\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("99/late", "There is no lesson named '99'"),
        ("", "There is no lesson named ''"),
        ("00/late", "Lesson 00 has no `%%measured` cell."),
        ("03/lat", "There is no measurement named"),
    ],
)
def test_mistakes(name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        measured._cell(name, "x = 1")
