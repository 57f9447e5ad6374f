"""verify can fail: a swap that is not applied, a deaf instrument and a slightly sick healthy program are all noticed."""

from dataclasses import replace

import pytest

import bugzoo.faults as faults
from bugzoo import programs
from bugzoo.faults import Swap
from bugzoo.proving import cells, measured
from bugzoo.proving.verify import verify

STALE = "loop/stale_gradients"
SEEDS = (0, 1)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path_factory.getbasetemp() / "verify-cache"))


def run():
    return verify([STALE], ["mlp"], seeds=SEEDS)


def problems(report):
    return [text for cell in report.cells for text in cell.problems]


def test_a_sound_fault_is_proved_and_the_second_time_is_cached():
    report = run()
    assert report.ok, (problems(report), [c.problems for c in report.controls])
    cell = report.cells[0]
    assert cell.applied and cell.undone and cell.agreeing == 2 and cell.p == 1 / 4
    assert cell.claims == {"fresh_gradient.stale_share > 0.5": [True, True]}
    assert cell.false_claims == {"fresh_gradient.stale_share > 0.5": [False, False]}
    assert "fresh_gradient" in cell.fired
    again = run()
    assert again.cached == again.runs and again.to_json()["cells"] == report.to_json()["cells"]


def test_a_fault_that_is_silently_not_applied_is_noticed(monkeypatch):
    # the swap fits and the edit is "made", but nothing that matters is different
    harmless = Swap("$OPTIMIZER.zero_grad()", "$OPTIMIZER.zero_grad( )", where="$OPTIMIZER.step()")
    sound = faults.load(STALE)
    monkeypatch.setattr(faults, "load", lambda name: replace(sound, edits=(harmless,)))
    report = run()
    assert not report.ok
    assert any("holds on 0 of 2 broken runs" in text for text in problems(report))


def test_a_fault_whose_swap_changes_nothing_is_noticed(monkeypatch):
    sound = faults.load(STALE)
    same = Swap("$OPTIMIZER.zero_grad()", "$OPTIMIZER.zero_grad()", where="$OPTIMIZER.step()")
    monkeypatch.setattr(faults, "load", lambda name: replace(sound, edits=(same,)))
    assert any("would change nothing" in text for text in problems(run()))


def test_a_deaf_instrument_is_noticed(monkeypatch):
    measure = measured.measured

    def deaf(*args):
        results, *counts = measure(*args)
        for result in results:
            result["numbers"]["fresh_gradient"]["stale_share"] = 0.0
        return results, *counts

    monkeypatch.setattr(measured, "measured", deaf)
    assert any("holds on 0 of 2 broken runs" in text for text in problems(run()))


def test_a_judge_that_never_fires_is_noticed(monkeypatch):
    judge = cells.judge_all
    monkeypatch.setattr(cells, "judge_all", lambda numbers: [replace(v, fired=False) for v in judge(numbers)])
    assert any("fresh_gradient does not fire on 2 of 2 broken runs" in text for text in problems(run()))


def test_an_instrument_that_always_fires_is_noticed(monkeypatch):
    judge = cells.judge_all

    def nervous(numbers):
        return [replace(v, fired=True, message="always") if v.instrument == "loss_curve" else v for v in judge(numbers)]

    monkeypatch.setattr(cells, "judge_all", nervous)
    report = run()
    assert any(
        "loss_curve fires on 2 of 2 healthy runs: always" in text for c in report.controls for text in c.problems
    )


@pytest.mark.sampled(0)
def test_a_slightly_sick_healthy_program_is_noticed(monkeypatch):
    load = programs.load

    def sick(name):
        program = load(name)
        source = program.source.replace(
            "        optimizer.zero_grad()\n", "        optimizer.zero_grad() if step % 3 else None\n"
        )
        assert source != program.source
        return replace(program, source=source)

    monkeypatch.setattr(programs, "load", sick)
    report = run()
    assert not report.ok
    sentences = [text for c in report.controls for text in c.problems]
    assert any("fresh_gradient" in text for text in sentences), sentences
