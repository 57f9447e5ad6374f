"""The contracts between rooms, read by a type checker."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampling import only_in_prove

ROOT = Path(__file__).parent.parent
RUNS = ("bugzoo/scenario.py", "bugzoo/running", "bugzoo/watching", "bugzoo/rerun", "bugzoo/diagnostics")
"""Here one room writes what another one reads. The others take twice as long: `make check` reads them all."""
pytestmark = pytest.mark.slow


def complaints(*arguments: str) -> list[str]:
    """What pyright (settings in pyproject.toml) calls an error, one line each."""
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        f"{one['file']}:{one['range']['start']['line'] + 1}: {one['message']}"
        for one in found
        if one["severity"] == "error"
    ]


@pytest.mark.parametrize("rooms", [RUNS, only_in_prove(())], ids=["what writes and reads runs", "everything"])
def test_pyright_has_nothing_to_say(rooms):
    assert complaints(*rooms) == []


def test_it_reads_the_contracts(tmp_path):
    """A reader of what nobody writes is an error: this is how `initial_loss` would have been told."""
    file = tmp_path / "reader.py"
    file.write_text(
        "from bugzoo.running import Run\n\n\ndef look(run: Run) -> object:\n    return run.trace.graph.samples\n"
    )
    (said,) = complaints(str(file))
    assert "samples" in said
