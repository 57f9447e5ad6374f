"""A record of its own for each test, and answers of an evening that a test chooses."""

from collections.abc import Callable

import pytest

from bugzoo import record
from bugzoo.practice.memory import DAY

START = 1_700_000_000.0
"""A November evening of 2023, in seconds since 1970."""


@pytest.fixture(autouse=True)
def _own_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(record, "_told", set())


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """said(fault, right, day, sure) appends the answer to a card, on a day from START."""

    def answer(fault: str, right: bool, day: float, sure: float | None = 80, **more) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(record.time, "time", lambda: START + day * DAY)
            value = {"fault": fault, "cause": "a word", "right": right, "seconds": 10.0, "program": "mlp"} | more
            assert record.event("card", "X-1", value if sure is None else value | {"sure": sure})

    return answer
