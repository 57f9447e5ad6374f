"""A healthy run breaks no contract."""

import pytest

from bugzoo import programs
from bugzoo.running import Job, run_worker
from bugzoo.scenario import with_settings
from tests.sampling import only_in_prove

QUICK = {"mlp", "digits_cnn", "sentiment_lstm", "mini_transformer", "amp_transformer", "regression_mlp"}


@pytest.mark.parametrize("name", [name if name in QUICK else only_in_prove(name) for name in programs.names()])
def test_a_healthy_program_breaks_none(name):
    program = programs.load(name)
    source = with_settings(program.source, program.tiny, name)
    ranks = 2 if name == "data_parallel" else 1
    run = run_worker(Job(source, watch_settings={"contracts": True}, ranks=ranks))
    assert run.outcome == "finished" and run.trace.findings == []


def test_a_program_that_breaks_one_is_heard():
    program = programs.load("mlp")
    source = with_settings(program.source, program.tiny, "mlp")
    broken = source.replace("cross_entropy(logits", "cross_entropy(logits.softmax(-1)")
    assert broken != source
    run = run_worker(Job(broken, watch_settings={"contracts": True}))
    assert [finding.contract for finding in run.trace.findings] == ["contracts/cross_entropy_logits"]
