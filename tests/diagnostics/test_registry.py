import json
import types

import pytest

from bugzoo import diagnostics
from bugzoo.errors import UserError
from bugzoo.running.reading import from_json, to_json
from bugzoo.running.result import Run
from bugzoo.watching.trace import Trace

NAMED = """data_inspection parameter_audit initial_loss overfit_one_batch gradient_health first_non_finite replay
fresh_gradient double_normalisation dependency loss_scale loss_curve mode_watch memory_audit step_timeline rank_check
determinism resumption""".split()


def test_every_instrument_that_is_promised_is_there():
    assert set(NAMED) <= set(diagnostics.names())


@pytest.mark.parametrize("name", diagnostics.names())
def test_an_instrument_says_what_to_conclude_and_what_it_costs(name):
    module = diagnostics.instrument(name)
    assert module.COST in (0, 1) and diagnostics.reruns(name) in (0, 1, 2, 5)
    assert "?" in diagnostics.question(name), "the first line asks what the instrument answers"
    assert len(module.__doc__.strip().splitlines()) >= 3
    assert module.measure.__doc__ and module.judge.__doc__


def test_an_unknown_instrument_is_named_with_its_neighbours():
    with pytest.raises(UserError, match="loss_curve"):
        diagnostics.instrument("loss_curv")


def test_an_empty_trace_makes_every_instrument_say_why_it_cannot_judge():
    readings = diagnostics.measure_all(Run(Trace()), most_reruns=1)
    assert set(readings) == set(diagnostics.names())
    for name, reading in readings.items():
        assert not reading.applies or not diagnostics.instrument(name).judge(reading.numbers).fired, name


def test_readings_cross_a_process_border(tiny_run):
    crossed = from_json(json.loads(json.dumps(to_json(tiny_run.readings))))
    assert repr(diagnostics.judge_all(crossed)) == repr(diagnostics.judge_all(tiny_run.readings)) != "[]"
    assert {name: reading.why_not for name, reading in crossed.items()} == {
        name: reading.why_not for name, reading in tiny_run.readings.items()
    }
    assert from_json({"loss_curve": "forged", "crash": {"not_applicable": ""}})["crash"].why_not


def test_one_broken_instrument_does_not_take_the_others_with_it(tiny_run, monkeypatch):
    monkeypatch.setattr(diagnostics.instrument("loss_curve"), "measure", lambda run: 1 / 0)
    readings = diagnostics.measure_all(tiny_run, max_cost=0)
    assert "ZeroDivisionError" in readings["loss_curve"].why_not
    assert readings["fresh_gradient"].numbers["stale_share"] == 0


def test_examine_judges_the_trace_of_ones_own_code(tiny_run):
    report = diagnostics.examine(tiny_run.trace)
    assert report.outcome == "nothing", str(report)
    assert report.steps == 40


def test_measuring_changes_neither_the_model_nor_the_random_numbers(tiny_run):
    import torch

    model = tiny_run.trace.live.models[0]
    before = {key: value.clone() for key, value in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    state = torch.get_rng_state()
    diagnostics.measure_all(tiny_run, max_cost=1)
    assert torch.equal(state, torch.get_rng_state())
    assert modes == [module.training for module in model.modules()]
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert isinstance(tiny_run.trace.live, object) and not isinstance(model, types.ModuleType)
