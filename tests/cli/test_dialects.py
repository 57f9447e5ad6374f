"""`bugzoo dialects`: the table, the proof, and a program printed in a combination."""

import ast
import json
from collections.abc import Callable
from typing import Any

import pytest

from bugzoo import dialects, programs
from bugzoo.proving import dialects as proofs

Bugzoo = Callable[..., Any]


@pytest.fixture
def two_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs.programs, "names", lambda: ["mlp", "sampler"])


def test_the_table(bugzoo: Bugzoo, two_programs: None) -> None:
    called = bugzoo("dialects")
    assert called.code == 0 and all(name in called.out for name in dialects.names())
    assert f"{len(dialects.names())} dialects" in called.out
    found = json.loads(bugzoo("dialects", "--json").out)
    assert [row["id"] for row in found["dialects"]] == list(dialects.names())
    assert [row["program"] for row in found["programs"]] == ["mlp", "sampler"]
    assert all(row["dialects"] >= proofs.LEAST and row["proved"] == 0 for row in found["programs"]), "no ledger here"
    fitting = [row["id"] for row in found["dialects"] if "sampler" in row["programs"]]
    assert len(fitting) == found["programs"][1]["dialects"]


def test_check_says_what_came_out(bugzoo: Bugzoo, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"quotes": {"problems": []}, "modes": {"problems": ["the loss of step 3 is 1.0"]}}
    monkeypatch.setattr(proofs, "check", lambda program, fresh, progress: said)
    monkeypatch.setattr(proofs, "too_few", lambda program: "")
    called = bugzoo("dialects", "check", "mlp")
    assert called.code == 1 and "mlp, modes: the loss of step 3 is 1.0" in called.out
    assert "mlp: 1 of 2 rewritings train alike" in called.out
    said["modes"]["problems"].clear()
    assert bugzoo("dialects", "check", "mlp").code == 0
    rows = json.loads(bugzoo("dialects", "check", "mlp", "finetune", "--json").out)
    assert [(row["program"], row["what"]) for row in rows][2:] == [("finetune", "quotes"), ("finetune", "modes")]


def test_a_program_in_a_combination(bugzoo: Bugzoo) -> None:
    one, two, again = (bugzoo("source", "mlp", "--yes", "--dialect", seed).out for seed in ("1", "two", "1"))
    assert one == again and len({one, two, programs.load("mlp").source}) == 3
    assert ast.parse(one) and "# %% Evaluation" in one
    found = json.loads(bugzoo("source", "mlp", "--yes", "--dialect", "1", "--json").out)
    assert found["source"] == one and set(found["dialects"]) <= set(dialects.names())
    assert "dialects" not in json.loads(bugzoo("source", "mlp", "--yes", "--json").out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dialects", "check", "mpl"), "Did you mean mlp"),
        (("source", "mlp", "--dialect", "1", "--diff"), "leave one of them out"),
        (("dialects", "chekc"), "check"),
    ],
)
def test_mistakes(bugzoo: Bugzoo, words: tuple[str, ...], said: str) -> None:
    called = bugzoo(*words)
    assert called.code == 2 and said in called.err and "Traceback" not in called.err
