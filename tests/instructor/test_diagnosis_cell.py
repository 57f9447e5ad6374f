"""The diagnosis cell of a submission runs in the sandbox, and what it may say is what is judged."""

import pytest

from bugzoo.grading.notebook import STUB
from bugzoo.instructor.diagnosis_cell import records

pytestmark = pytest.mark.usefixtures("sandboxed")


def test_nothing_said_runs_nothing() -> None:
    assert records(STUB) == records("  \n") == ([], "")


def test_what_was_said() -> None:
    findings, trouble = records(
        'first.hand_in(cause="a mask", place=10, evidence="dependency", test="A", colour="red")\n'
        'second.hand_in(cause=3, place="7", evidence=[1, 2], step=True)\nprint("noise")'
    )
    assert trouble == "" and len(findings) == 4
    assert findings[0] == {"cause": "a mask", "place": 10, "step": None, "evidence": ["dependency"], "test": "A"}
    assert findings[1] == {"cause": "3", "place": 7, "step": None, "evidence": ["1", "2"], "test": ""}


def test_what_raises_or_leaves() -> None:
    """What was handed in before counts; one that ends its process has said nothing."""
    findings, trouble = records('first.hand_in(cause="a mask")\nraise ValueError("no")')
    assert findings[0]["cause"] == "a mask" and trouble == "ValueError: no"
    assert records("import os; os._exit(0)")[0] == []
    assert "SyntaxError" in records("first.hand_in(")[1]


def test_no_way_out(tmp_path) -> None:
    """Neither the network nor anybody's files can be written from it."""
    findings, trouble = records(
        "import socket\n"
        f"try:\n    open({str(tmp_path / 'key.json')!r}, 'w').write('x')\n    first.hand_in(cause='wrote')\n"
        "except OSError:\n    first.hand_in(cause='no file')\n"
        "try:\n    socket.create_connection(('127.0.0.1', 22), timeout=2)\n    second.hand_in(cause='connected')\n"
        "except OSError:\n    second.hand_in(cause='no network')\n"
    )
    assert trouble == "" and [finding["cause"] for finding in findings[:2]] == ["no file", "no network"]
    assert not list(tmp_path.iterdir())
