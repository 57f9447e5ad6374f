"""One small history, made once from real runs."""

from pathlib import Path

import pytest

from bugzoo.cli import main


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """`bugzoo incident ...` in this process: exit code, stdout, stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["incident", *words])
    said = capsys.readouterr()
    return int(stop.value.code or 0), said.out, said.err


@pytest.fixture
def incident(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *words: typed(capsys, *map(str, words))


@pytest.fixture(scope="session")
def history_folder(tmp_path_factory) -> Path:
    """`bugzoo incident make used-to-train --program mlp --fault optimizer/weight_decay_too_strong --commits 12 --seed 3`."""
    from bugzoo.incidents import bisecting

    folder = tmp_path_factory.mktemp("incident") / "made"
    bisecting.make(folder, "mlp", "optimizer/weight_decay_too_strong", 12, 3)
    return folder
