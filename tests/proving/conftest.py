"""A cache and a ledger of the test's own, and runs that are made up, so that what is tested is what becomes of them."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from bugzoo.diagnostics.verdict import Verdict
from bugzoo.grading.trials import MUST_PASS
from bugzoo.proving import cells, measured, tried


@pytest.fixture(autouse=True)
def own_places(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BUGZOO_PROOFS", "")


@pytest.fixture
def proofs(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """A ledger, empty at first."""
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path / "proofs"))
    return tmp_path / "proofs"


@dataclass
class Runs:
    """What was asked of the machine: (text, instruments) of each run. `outcome` is what they come to."""

    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    outcome: str = "finished"
    trouble: str = ""
    graded: list[tuple[str, str, str]] = field(default_factory=list)
    """(program, kind, name) of each submission."""
    spares: tuple[str, ...] = ()
    """Kinds of submissions that a grader passes that should not, or fails that should pass."""

    def run(self, asked: tuple[Any, tuple[str, ...]]) -> dict[str, Any]:
        job, names = asked
        self.asked.append((job.source, names))
        ill = float("F.softmax(" in job.source)
        numbers = {
            name: {"softmax_before_loss": ill, "final_loss": 0.2 + ill, "seen": len(self.asked)} for name in names
        }
        return {
            "outcome": self.outcome,
            "metrics": {"accuracy": 0.95, "loss": 0.2},
            "numbers": numbers,
            "error": {},
            "seconds": 0.1,
            "trouble": self.trouble,
        }

    def grade(self, asked: Any) -> dict[str, Any]:
        _, program, trial = asked
        self.graded.append((program, trial.kind, trial.name))
        passed = (trial.kind in MUST_PASS) != (trial.kind in self.spares)
        failed = [] if passed else ["loss"]
        return {"status": "passed" if passed else "wrong", "share": float(passed), "failed": failed, "saw": failed}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """No run is real: programs are healthy unless a softmax stands before their loss, which one instrument notices; and
    the grader is right."""
    made_up = Runs()

    def judge(readings: Any) -> list[Verdict]:
        numbers = {name: reading.numbers for name, reading in readings.items()}
        fires = {
            name: name == "double_normalisation" and figures["softmax_before_loss"] > 0.5
            for name, figures in numbers.items()
        }
        return [Verdict(name, fire, "said", {}) for name, fire in fires.items()]

    monkeypatch.setattr(measured, "measure_job", made_up.run)
    monkeypatch.setattr(cells, "judge_all", judge)
    monkeypatch.setattr(tried, "grade_one", made_up.grade)
    return made_up
