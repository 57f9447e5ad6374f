"""The notebooks in git are what the lessons make; the folder is the list; and every lesson holds."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from bugzoo import course
from bugzoo.proving import ledger, lesson_proof
from tests.sampling import only_in_prove

ROOT = Path(__file__).resolve().parents[2]


def test_committed_are_built_ones() -> None:
    assert course.stray(ROOT) == []


@pytest.mark.slow
def test_a_changed_a_missing_and_a_spare_notebook_are_noticed(tmp_path: Path) -> None:
    built = course.build(tmp_path)
    assert len(built) == len(course.files()) + 1 and "notebooks/glossary.ipynb" in built
    assert course.build(tmp_path) == course.stray(tmp_path) == []
    first, second = (tmp_path / f"notebooks/{name}.ipynb" for name in list(course.files())[:2])
    first.write_text(first.read_text().replace("## ", "### "))
    second.unlink()
    (tmp_path / "notebooks/by_hand.ipynb").write_text("{}")
    complaints = "\n".join(course.stray(tmp_path))
    assert len(complaints.splitlines()) == 3
    assert f"{first.stem}.ipynb differs from" in complaints and f"{second.stem}.ipynb is missing" in complaints
    assert "by_hand.ipynb has no lesson" in complaints
    assert course.build(tmp_path) == [f"notebooks/{first.name}", f"notebooks/{second.name}"]


def test_a_file_is_all_that_a_lesson_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the folder: list, question and notebook are there at once."""
    for file in course.files().values():
        shutil.copy(file, tmp_path)
    (tmp_path / "04_next.py").write_text(
        "# %% [markdown] title\n# # 04 · Next\n\n# %% [check] why\n# Why?\n# ( ) So\n#     no.\n# (x) Because\n#     yes.\n"
    )
    monkeypatch.setattr(course, "PLACE", tmp_path)
    assert "04_next" in course.files() and course.load("4").title == "04 · Next"
    assert "notebooks/04_next.ipynb" in course.build(tmp_path)
    from bugzoo import lab

    assert lab.quick_check("04/why").answer("b") == "Right: yes."


@pytest.mark.parametrize("name", course.files())
def test_a_learner_gets_a_valid_notebook_without_proofs(name: str) -> None:
    text = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    book = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    proofs = course.load(name).of("proof")
    assert proofs and not any(json.dumps(cell.text)[1:-1] in text for cell in proofs), "a lesson proves something"
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in book.cells)


@pytest.mark.parametrize("name", course.files())
def test_what_can_be_seen_without_running_it(name: str) -> None:
    assert lesson_proof.read_through(course.load(name)) == []


@pytest.mark.parametrize("name", course.files())
def test_every_lesson_held_when_it_was_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")  # the ledger of this checkout
    assert lesson_proof.proved(course.load(name)), f"what it runs has changed: `bugzoo lessons check {name}` runs it"


def test_the_ledger_has_no_other_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")
    assert set(ledger.names("lessons")) == set(course.files())


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("name", course.files())
def test_a_lesson_still_holds(name: str) -> None:
    """Cells run without a front end, and the text says what the proofs measure. `bugzoo lessons check` runs what changed."""
    assert lesson_proof.run(course.load(name))[0] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    # in the gate the browser does so, on the same lesson
    [only_in_prove(name) for name in course.files() if course.load(name).tasks],
)
def test_a_lesson_in_which_nobody_writes_anything_runs_through(name: str) -> None:
    assert lesson_proof.run(course.load(name), as_given=True)[0] == []
