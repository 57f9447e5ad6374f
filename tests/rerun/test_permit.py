"""What may not be run again is not, whoever asks; and a watch alone runs nothing again."""

import pytest
import torch

from bugzoo.diagnostics import instrument, read
from bugzoo.errors import NotApplicable, UserError
from bugzoo.rerun import body, evaluation, script
from bugzoo.running import Job, Run, run_here
from bugzoo.watching import watch

TRAINS = """\
import torch
import torch.nn.functional as F
torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    if step == 8:
        with torch.no_grad():
            net.weight[0, 0] = SPOILT
def run(net):
    with torch.no_grad():
        return F.cross_entropy(net(x), y)
def check(net):
    return run(net)
value = check(net)
"""
WHY = "nothing is run again, as a test asks"


@pytest.fixture
def refused() -> Run:
    run = run_here(TRAINS.replace("SPOILT", "0.5"), file="refused.py")
    run.trace.live.no_rerun = WHY
    return run


def test_every_part_of_a_script_asks_first(refused):
    for ask in (
        lambda: body.again(refused, 1),
        lambda: evaluation.evaluated(refused),
        lambda: script.job_of(refused, "for nothing"),
    ):
        with pytest.raises(NotApplicable, match=WHY):
            ask()
    with pytest.raises(UserError, match=WHY):
        refused.trace.replay(3)
    assert not read("overfit_one_batch", refused).applies


@pytest.mark.slow
def test_the_rows_of_a_data_set_are_not_fetched_again_either():
    run = run_here(instrument("worker_noise").HEALTHY.source, file="rows.py")
    assert read("worker_noise", run).applies
    run.trace.live.no_rerun = WHY
    assert read("worker_noise", run).why_not == WHY
    run = run_here(instrument("batch_order").FURTHER[1][0].source, file="rows.py")
    assert "repeated_epoch_share" in read("batch_order", run).numbers
    run.trace.live.no_rerun = WHY
    numbers = read("batch_order", run).numbers  # what the batches of the run itself say is not a re-run
    assert "repeated_epoch_share" not in numbers and "mixed" in numbers


def test_an_explanation_that_is_refused_leaves_the_trace_as_it_is():
    run = run_here(TRAINS.replace("SPOILT", "float('nan')"), file="spoilt.py")
    assert run.trace.first_non_finite().data["op"]
    with watch() as trace:
        exec(compile(TRAINS.replace("SPOILT", "float('nan')"), "spoilt.py", "exec"), {"__name__": "spoilt"})
    trace.live.no_rerun = WHY
    assert trace.first_non_finite().data.get("op") is None


def test_a_crash_is_walked_again_when_it_is_asked_for_and_not_before():
    calls = []

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(9, 2)

        def forward(self, x):
            calls.append(len(x))
            return self.second(self.first(x))

    with pytest.raises(RuntimeError), watch() as trace:
        Net()(torch.ones(3, 4))
    assert calls == [3] and "way" not in trace.error["scene"]
    numbers = read("crash", Run(trace)).numbers
    assert (
        calls == [3, 3]
        and "earlier in this forward pass, first returned (3, 8) float32" in instrument("crash").judge(numbers).message
    )
    trace.explain()
    assert calls == [3, 3]
    with pytest.raises(RuntimeError), watch() as other:
        Net()(torch.ones(5, 4))
    other.live.no_rerun = WHY
    assert read("crash", Run(other)).applies and calls == [3, 3, 5]


def test_what_a_name_would_forbid_is_evaluated_where_a_child_guards_it():
    run = run_here(TRAINS.replace("SPOILT", "0.5"), file="guarded.py")
    with pytest.raises(NotApplicable):
        evaluation.evaluated(run)
    run.trace.live.guarded = True
    assert len(evaluation.evaluated(run).pairs) == 1


def test_the_job_is_the_run_s_own():
    run = run_here(TRAINS.replace("SPOILT", "0.5"), file="own.py")
    job = script.job_of(run, "for nothing")
    assert isinstance(job, Job) and job.overlay and (job.source, job.file) == (run.source, "own.py")
    run.source = ""
    with pytest.raises(NotApplicable, match="for nothing"):
        script.job_of(run, "for nothing")
