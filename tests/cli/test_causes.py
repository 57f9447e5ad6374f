"""The table of causes is what the files of faults say, and a fault pack brings its own words in the same way."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bugzoo import diagnostics, faults, notebooks
from bugzoo.diagnostics import causes
from bugzoo.proving import cause_table

PACK = Path(__file__).parents[1] / "sample_pack"
WORDS = """
from bugzoo.faults import words
from bugzoo.faults.model import Cause
"""
OWN = "loop/gradients_wiped"
"""A fault of the pack, named like one of ours."""
ROWS = cause_table.rows


def forget() -> None:
    for stored in (causes.rows, causes.cause, causes.words, causes._known):
        stored.cache_clear()


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the sample pack, to be changed before it is imported; installed as `acme`."""
    shutil.copytree(PACK / "sample_faults", tmp_path / "acme_faults")
    monkeypatch.syspath_prepend(str(tmp_path))

    def installed(group: str) -> list[Any]:
        import acme_faults

        return [SimpleNamespace(name="acme", module="acme_faults", load=lambda: acme_faults)] * (
            group == "bugzoo.faults"
        )

    for module in (cause_table, causes, faults):
        monkeypatch.setattr(module, "entry_points", installed)
    # the table of bugzoo itself stays as it is
    monkeypatch.setattr(cause_table, "rows", lambda package: {} if package is faults else ROWS(package))
    monkeypatch.setattr(diagnostics, "__file__", str(tmp_path / "ours" / "__init__.py"))
    forget()
    yield tmp_path / "acme_faults"
    forget()
    for name in [name for name in sys.modules if name.startswith("acme_faults")]:
        del sys.modules[name]


def test_the_table_is_what_the_files_of_faults_say() -> None:
    assert notebooks.stray(cause_table.texts(), Path(), "faults", "bugzoo causes build") == []


def test_a_pack_without_words_needs_no_table_and_has_those_of_its_families(pack: Path) -> None:
    assert cause_table.texts() == {}
    assert causes.cause(f"acme:{OWN}") == causes.cause(OWN)
    assert causes.cause("acme:tokens/lost") == causes.Cause(causes.OTHER)


def test_a_pack_has_its_own_words_once_the_command_has_written_them(bugzoo: Callable[..., Any], pack: Path) -> None:
    file = pack / f"{OWN}.py"
    text = file.read_text(encoding="utf-8").replace("from bugzoo", WORDS + "from bugzoo", 1)
    text = text.replace(
        "    sources=", '    cause=Cause("too early a zero", ("wiped",), {words.DATA: {"at": (0, 3)}}),\n    sources='
    )
    file.write_text(text, encoding="utf-8")
    (pack / "optimizer" / "__init__.py").write_text(f'{WORDS}\nCAUSE = Cause("a step of its own")\n', encoding="utf-8")
    checked = bugzoo("causes", "build", "--check")
    assert checked.code == 1 and "causes.json is missing; `bugzoo causes build` makes it" in checked.out
    assert "1 files written" in bugzoo("causes", "build").out and bugzoo("causes", "build", "--check").code == 0
    forget()
    assert causes.named("wiped") == causes.named(f"acme:{OWN}") == "too early a zero" != causes.cause(OWN).word
    assert "too early a zero" in causes.words()
    assert causes.right(f"acme:{OWN}", {"at": 2}) == ("too early a zero", "wrong data or wrong labels")
    assert causes.right(f"acme:{OWN}", {"at": 3}) == causes.right(f"acme:{OWN}") == ("too early a zero",)
    assert causes.cause("acme:optimizer/lr_too_low").word == "a step of its own"
    assert causes.cause("acme:optimizer/lr_too_low").place is causes.cause("optimizer/lr_too_low").place
    assert causes.cause("acme:loss/sign_flipped").word == causes.cause("loss/sign_flipped").word


def test_a_pack_that_cannot_be_imported_stops_no_form(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`checkup` and the forms read words, and run no code of a pack."""
    monkeypatch.setattr(causes, "entry_points", lambda group: [SimpleNamespace(name="acme", module="acme_faults")])
    (pack / causes.TABLE).write_text('{"loop/gradients_wiped": {"word": "too early a zero"}}', encoding="utf-8")
    (pack / "__init__.py").write_text("raise RuntimeError('this pack is broken')", encoding="utf-8")
    assert "too early a zero" in causes.words() and causes.cause(f"acme:{OWN}").word == "too early a zero"
