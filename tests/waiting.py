"""What waits for its first proof. Tests have no ledger of their own (tests/conftest.py), so that its folder is named here."""

from pathlib import Path

from bugzoo.proving import ledger

WAITING = ledger.waiting(Path(__file__).parents[1] / "proofs")
