"""The contracts between rooms, read by a type checker."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def complaints(*arguments: str) -> list[str]:
    """What pyright (settings in pyproject.toml) calls an error, one line each."""
    process = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    errors = json.loads(process.stdout)["generalDiagnostics"]
    return [
        f"{entry['file']}:{entry['range']['start']['line'] + 1}: {entry['message']}"
        for entry in errors
        if entry["severity"] == "error"
    ]


def test_pyright_has_nothing_to_say():
    assert complaints() == []


def test_it_reads_the_contracts(tmp_path):
    """A reader of what nobody writes is an error: this is how `initial_loss` would have been told."""
    file = tmp_path / "reader.py"
    file.write_text(
        "from bugzoo.running import Run\n\n\ndef look(run: Run) -> object:\n    return run.trace.graph.samples\n"
    )
    (complaint,) = complaints(str(file))
    assert "samples" in complaint
