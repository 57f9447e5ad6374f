"""The command line called in this process, as `bugzoo ARGS` would be."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bugzoo.cli import main


@dataclass
class Called:
    code: int
    out: str
    err: str


@pytest.fixture
def bugzoo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path) -> Callable[..., Called]:
    """`bugzoo("list", "--json")` -> exit code, stdout and stderr; wide enough that nothing is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))

    def call(*arguments: str) -> Called:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        printed = capsys.readouterr()
        return Called(int(stop.value.code or 0), printed.out, printed.err)

    return call
