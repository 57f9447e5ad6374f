"""Compilations belong to the run that asked for them, in a process that goes on."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import compiled_graphs
from bugzoo.running import run_here

pytestmark = pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")


@pytest.mark.slow
def test_what_is_compiled_after_a_run_is_not_counted_as_its():
    quiet, busy = run_here(compiled_graphs.HEALTHY.source), run_here(compiled_graphs.SICK.source)
    counts = [diagnostics.read("compiled_graphs", run).numbers["versions"] for run in (quiet, busy)]
    assert counts[0] <= compiled_graphs.MANY < counts[1]
