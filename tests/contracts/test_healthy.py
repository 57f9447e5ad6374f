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
