"""The committed ledger is whole and true: everything has an entry about today's texts, and a dozen entries are run again.

Always the same dozen: `coverage.SEED` draws it. `bugzoo verify --sample 150` does more of them, `make prove` everything.
"""

import os

import pytest

from bugzoo.proving import coverage, ledger, standing


@pytest.fixture(autouse=True)
def the_real_one(own_places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")


def test_everything_is_in_the_ledger() -> None:
    lacking = coverage.lacking()
    shown = "\n".join(lacking[:20])
    assert not lacking, f"{len(lacking)} things are to be proved (`bugzoo verify && bugzoo check` does all):\n{shown}"


def test_every_row_of_the_texts_stands() -> None:
    """Else `verify` and this test make a thousand texts to compare them, each time."""
    behind = [fault.id for fault in coverage.catalogue.catalogue().values() if not standing.stands(fault)]
    assert not behind, f"proofs/texts.json is behind for {len(behind)} faults; `bugzoo verify` brings it up to date"


@pytest.mark.slow
def test_a_dozen_comes_out_as_it_is_written() -> None:
    before = {name: (ledger.home() / name).stat().st_mtime for name in os.listdir(ledger.home())}
    done, problems = coverage.sample(12, coverage.SEED)
    assert not problems, "\n".join(problems)
    assert len(done) == 12, "the ledger is nearly empty"
    assert before == {name: (ledger.home() / name).stat().st_mtime for name in os.listdir(ledger.home())}
