"""An assignment on disk: whole or not there at all, the key apart, and nothing of anybody's overwritten."""

import json
import os
import stat
from pathlib import Path

import nbformat
import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import Assignment, Refused, key, write
from bugzoo.instructor.diagnosis_cell import ANSWER
from bugzoo.instructor.form_records import LINE
from bugzoo.instructor.layout import check_place
from tests.instructor.class_of import written_proof

FILES = {
    "README.md", "nbgrader_config.py", "source/week_3/week_3.ipynb", "student/week_3.ipynb",
    *(f"instructor/{name}" for name in
      ("key.json", "key.md", "proof.json", "proof.md", "solution.ipynb", "manifest.json")),
}  # fmt: skip


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def written(draft: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(written_proof(draft), tmp_path_factory.mktemp("layout") / "deep" / "week_3")


def test_files(written: Path) -> None:
    assert names(written) == FILES
    assert stat.S_IMODE((written / "instructor").stat().st_mode) == 0o700
    assert os.listdir(written.parent) == ["week_3"]  # no temporary folder beside it
    for path in sorted(written.rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        assert not any(cell.get("outputs") for cell in notebook.cells)


def test_nothing_of_this_machine(written: Path) -> None:
    home = str(Path.home())
    for path in written.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert home not in text and str(written) not in text, path.name


def test_key_read_back(written: Path, draft: Assignment) -> None:
    answer_key = key.read(written)
    assert answer_key.assignment == draft and answer_key.max_points == 10.0
    assert [answer.fault for answer in answer_key.answers] == list(draft.ids)
    for answer in answer_key.answers:  # each place is where the fault's own line stands
        assert len(answer.places) >= 1 and answer.cause and answer.evidence and answer.why and answer.fix
    line = answer_key.answers[1].places[0][0]
    assert "F.softmax(" in draft.source.splitlines()[line - 1]


def test_pages_say_it(written: Path, draft: Assignment) -> None:
    page, proof = (written / "instructor/key.md").read_text(), (written / "instructor/proof.md").read_text()
    for fault in draft.ids:
        assert fault in page and fault in proof
    assert "+    loss = F.cross_entropy(F.softmax(" in page and "2.1 for repairing only fault 1" in page
    assert "| everything repaired | passed | 7 |" in proof and "| as handed out | wrong | 0 |" in proof


def test_nbgrader_is_told_to_read_the_forms(written: Path) -> None:
    """The configuration runs as nbgrader runs it, and puts our step before the one that clears the outputs."""
    from nbgrader.converters import Autograde
    from traitlets.config import Config

    config = Config()
    text = (written / "nbgrader_config.py").read_text()
    exec(compile(text, "nbgrader_config.py", "exec"), {"get_config": lambda: config})
    steps = Autograde(config=config).sanitize_preprocessors
    assert steps[0] == "bugzoo.instructor.autograde.FormRecords" and [step.__name__ for step in steps[1:2]] == [
        "ClearOutput"
    ]
    assert config.ClearSolutions.code_stub == {"python": ANSWER}
    page = (written / "README.md").read_text()
    assert LINE in text and LINE in page and page.index("bugzoo grade submitted") < page.index("nbgrader autograde")


@pytest.mark.parametrize("spoil", ["missing", "JSON", "format", "program"])
def test_key_that_cannot_be_used(written: Path, tmp_path: Path, spoil: str) -> None:
    (tmp_path / "instructor").mkdir()
    answer_key = json.loads((written / "instructor/key.json").read_text())
    changes = {"format": {"format": "bugzoo-assignment/9"}, "program": {"handed_out": "0" * 64}}
    text = "{" if spoil == "JSON" else json.dumps(answer_key | changes.get(spoil, {}))
    words = {"missing": "has no answer key", "JSON": "could not be read", "format": "bugzoo-assignment/9"}
    if spoil != "missing":
        (tmp_path / "instructor/key.json").write_text(text)
    with pytest.raises(UserError, match=words.get(spoil, "have changed since")):
        key.read(tmp_path)


def test_place_is_taken(draft: Assignment, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    os.symlink(tmp_path / "mine", tmp_path / "link")
    for name, word in {
        "mine": "not from `bugzoo assign`",
        "file": "is not a folder",
        "link": "is not a folder",
    }.items():
        for force in (False, True):
            with pytest.raises(UserError, match=word):
                write(written_proof(draft), tmp_path / name, force=force)
    with pytest.raises(UserError, match="could not be written"):
        write(written_proof(draft), tmp_path / "file" / "below")
    assert names(tmp_path / "mine") == {"notes.txt"} and (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    assert names(write(written_proof(draft), tmp_path / "empty")) == FILES


def test_force_keeps_what_was_changed(draft: Assignment, tmp_path: Path) -> None:
    out = write(written_proof(draft), tmp_path / "week_3")
    with pytest.raises(UserError, match="--force"):
        check_place(out)
    (out / "README.md").write_text("my own words")
    (out / "submitted").mkdir()
    (out / "submitted/ada.ipynb").write_text("handed in")
    write(written_proof(draft), out, force=True)
    assert names(out) == FILES | {"README.before.md", "submitted/ada.ipynb"}
    assert (out / "README.before.md").read_text() == "my own words"
    assert (out / "README.md").read_text().startswith("# Week 3")


def test_failed_proof_writes_nothing(draft: Assignment, tmp_path: Path) -> None:
    proof = written_proof(draft)
    proof.problems = ["one hides the other"]
    with pytest.raises(Refused, match="one hides the other"):
        write(proof, tmp_path / "week_3")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("moment", ["write_text", "rename"])
def test_stopped_in_the_middle(draft: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Ctrl-C while the files are written leaves no half folder, wherever it strikes."""
    usual, count = getattr(Path, moment), [0]

    def strike(self: Path, *arguments: object, **named: object) -> object:
        count[0] += 1
        if count[0] == 4 or moment == "rename":
            raise KeyboardInterrupt
        return usual(self, *arguments, **named)

    monkeypatch.setattr(Path, moment, strike)
    with pytest.raises(KeyboardInterrupt):
        write(written_proof(draft), tmp_path / "week_3")
    assert not list(tmp_path.iterdir())
