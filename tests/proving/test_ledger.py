"""The committed ledger is whole and true: everything has an entry of today's content, and a sample of it is run again.

The sample is another one each time. `BUGZOO_SAMPLE_SEED=... pytest tests/proving/test_ledger.py` takes one again, and
`BUGZOO_SAMPLE_SECONDS` says for how long new ones are begun.
"""

import os
import random

import pytest

from bugzoo.proving import coverage, ledger


@pytest.fixture(autouse=True)
def the_real_one(own_places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")


def test_everything_is_in_the_ledger() -> None:
    lacking = coverage.lacking()
    shown = "\n".join(lacking[:20])
    assert not lacking, f"{len(lacking)} things are to be proved (`bugzoo verify && bugzoo check` does all):\n{shown}"


@pytest.mark.slow
def test_a_sample_comes_out_as_it_is_written() -> None:
    seed = int(os.environ.get("BUGZOO_SAMPLE_SEED") or random.SystemRandom().randrange(10**6))
    seconds = float(os.environ.get("BUGZOO_SAMPLE_SECONDS") or 30)
    before = {name: (ledger.home() / name).stat().st_mtime for name in os.listdir(ledger.home())}
    done, problems = coverage.sample(seconds, seed)
    print(f"BUGZOO_SAMPLE_SEED={seed}:", *done, sep="\n  ")
    assert not problems, f"BUGZOO_SAMPLE_SEED={seed}\n" + "\n".join(problems)
    assert len(done) >= 2, "the ledger is empty"
    assert before == {name: (ledger.home() / name).stat().st_mtime for name in os.listdir(ledger.home())}
