"""A machine at the desk: the protocol, and a scripted agent before the judge that people have."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bugzoo.interview.hunt import agent, case, recipe
from bugzoo.interview.hunt.agent import Desk, serve


@pytest.fixture
def desk(quick, tmp_path: Path) -> Desk:
    return Desk(quick, tmp_path / "desk")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, "a request is an object"),
        ([], "a request is an object"),
        ({"do": "dance"}, "brief, read, write"),
        ({"do": "read", "file": "../../etc/passwd"}, '"file" is train.py'),
        ({"do": "write", "file": "hunt.json", "text": "{}"}, '"file" is train.py'),
        ({"do": "write", "file": "train.py"}, '"text" is a string'),
        ({"do": "write", "file": "train.py", "text": "\ud800"}, "could not be written"),
        ({"do": "run", "seconds": -1}, "above 0"),
        ({"do": "run", "seconds": True and "x"}, "above 0"),
    ],
)
def test_bad_requests(desk: Desk, asked: object, said: str) -> None:
    found = desk.answer(asked)
    assert not found["ok"] and said in found["error"]


def test_what_it_may_do(desk: Desk) -> None:
    assert "Hunt" in desk.answer({"do": "brief"})["brief"]
    assert "metrics" in desk.answer({"do": "read", "file": "train.py"})["text"]
    assert desk.answer({"do": "check"})["passed"] is False
    assert desk.answer({"do": "write", "file": "train.py", "text": "print('hello')\nmetrics = {'accuracy': 0.9}\n"})[
        "save"
    ]
    assert desk.answer({"do": "run"}) == {"ok": True, "exit": 0, "text": "hello\n"}
    assert desk.answer({"do": "check"})["passed"] is True
    desk.answer({"do": "write", "file": "train.py", "text": "while True: print('x' * 1000)"})
    found = desk.answer({"do": "run", "seconds": 1})
    assert found["exit"] is None and len(found["text"]) == agent.TOLD


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [one.name for one in recipe.published()])
def test_a_scripted_agent(name: str) -> None:
    """It reads, sees that it fails, writes the right program, runs and hands in, in one go and in words."""
    made = case.freeze(recipe.named(name))
    words = "\n\n".join(fault.fix for fault, _ in made.scenario.specs)
    asked = [
        {"do": "brief"},
        {"do": "read", "file": "train.py"},
        {"do": "write", "file": "train.py", "text": made.solution},
        {"do": "check"},
        {"do": "done", "findings": words},
        {"do": "brief"},
    ]
    found = list(serve(made, map(json.dumps, asked)))
    assert [one["ok"] for one in found] == [True] * 5  # what comes after the end is not read
    assert found[3]["passed"], found[3]
    assert found[4]["rows"]["repaired"] == 60, found[4]
    assert found[4]["rows"]["findings"] >= 10, found[4]
    assert not any(name in json.dumps(found) for name in made.recipe.ids)


@pytest.mark.slow
def test_the_end_of_input_hands_in(hunt, tmp_path: Path) -> None:
    case.write(hunt, tmp_path / "panel.case")
    command = [sys.executable, "-m", "bugzoo", "hunt", "agent", str(tmp_path / "panel.case")]
    done = subprocess.run(command, input='\n{"do": "brief"}\nnonsense\n', capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["ok"] for one in found] == [True, False, True] and found[-1]["points"] == 0
