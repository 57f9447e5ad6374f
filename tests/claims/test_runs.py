"""Runs of a claim: made from programs, kept one by one, and none is believed that the machine spoilt."""

import pytest

from bugzoo import claims
from bugzoo.claims import _runs
from bugzoo.errors import UserError
from bugzoo.running import many
from bugzoo.running.result import Run
from bugzoo.watching.trace import Trace

NAME = "frozen_features"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path) -> list[str]:
    """Sources of the jobs that were run; no process is started."""
    done: list[str] = []
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))

    def run_job(job):
        done.append(job.source)
        return Run(Trace(metrics={"accuracy": 0.5}), job.source)

    monkeypatch.setattr(many, "run_job", run_job)
    return done


def test_what_ran_before_ctrl_c_is_kept(run: list[str]) -> None:
    module = claims.load(NAME)
    jobs = dict(list(module.jobs().items())[:5])

    def pressed(done: int, of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _runs.look_at(NAME, jobs, module.look, progress=pressed)
    told: list[tuple[int, int]] = []
    run.clear()
    seen, made = _runs.look_at(NAME, jobs, module.look, progress=lambda done, of: told.append((done, of)))
    assert told[0] == (2, 5) and told[-1] == (5, 5) and made == len(run) == 3
    assert list(seen) == list(jobs) and seen[next(iter(jobs))] == {"outcome": "finished", "accuracy": 0.5}
    for more in ({"fresh": True}, {"timed": True}):
        run.clear()
        _runs.look_at(NAME, jobs, module.look, **more)
        assert len(run) == 5, "none of them is believed"


def test_a_machine_that_fails_is_no_result(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))
    broken = Run(Trace(outcome="crashed"))
    broken.trouble = "no memory for a process"
    monkeypatch.setattr(many, "run_job", lambda job: broken)
    module = claims.load(NAME)
    with pytest.raises(UserError, match=r"the run 'short \w+ \d' could not be made: no memory"):
        _runs.look_at(NAME, module.jobs(), module.look)
    assert not list(tmp_path.iterdir())


def test_a_change_that_finds_no_place_is_told() -> None:
    with pytest.raises(ValueError, match="mlp: 'nowhere' stands there 0 times, and should once"):
        _runs.job("mlp", changes=(("nowhere", "somewhere"),))


def test_a_changed_program_makes_a_result_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")
    assert claims.current(NAME)
    module = claims.load(NAME)
    jobs = module.jobs() | {"one more": _runs.job("finetune", seed=9)}
    monkeypatch.setattr(module, "jobs", lambda: jobs)
    assert not claims.current(NAME)
