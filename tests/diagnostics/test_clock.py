"""The times of a checkup: who is slow costs nobody else his numbers, and a script that does not end keeps its verdict."""

import signal
import time

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import _clock
from bugzoo.diagnostics.checkup import checkup
from bugzoo.running.result import Run
from bugzoo.watching.trace import Trace


@pytest.fixture
def clock():
    """A clock, and the process's alarm as it was before."""
    before = signal.getsignal(signal.SIGALRM)
    yield _clock.Clock()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def work(seconds):
    """Processor time: what is waited while others have the processors does not count."""
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass


@pytest.mark.serial
def test_an_instrument_that_takes_too_long_is_cut_off_and_named(tiny_run, clock, monkeypatch):
    monkeypatch.setattr(diagnostics.instrument("dependency"), "measure", lambda run: work(60))
    readings = _clock.look(tiny_run, clock, 0.5, ["loss_curve", "dependency", "data_inspection"])
    assert "the time limit ended this instrument" in readings["dependency"].why_not
    assert "no time left" in readings["data_inspection"].why_not
    assert readings["loss_curve"].applies
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_what_reads_the_trace_alone_is_measured_whatever_the_time(tiny_run, clock):
    readings = _clock.look(tiny_run, clock, 0.0)
    assert readings["loss_curve"].applies and readings["fresh_gradient"].applies
    assert not readings["overfit_one_batch"].applies


def test_an_instrument_that_fails_late_is_no_timeout(tiny_run, clock, monkeypatch):
    monkeypatch.setattr(diagnostics.instrument("dependency"), "measure", lambda run: 1 / 0)
    assert "ZeroDivisionError" in _clock.look(tiny_run, clock, 30, ["dependency"])["dependency"].why_not


def test_the_cheap_ones_come_first_and_those_that_train_last():
    order = _clock.in_order()
    costs = [diagnostics.instrument(name).COST for name in order]
    assert costs == sorted(costs) and order[-1] in ("overfit_one_batch", "tiny_subset", "learning_rate_finder")
    assert "determinism" not in order


def test_what_judges_the_end_is_not_asked_of_a_run_that_was_cut_short(clock):
    readings = _clock.look(Run(Trace(outcome="stopped")), clock, 30, ["class_balance"])
    assert "cut short" in readings["class_balance"].why_not


def test_a_name_that_holds_no_times_is_none():
    with pytest.raises(AttributeError):
        _clock.nothing  # noqa: B018


ENDLESS = """\
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(-1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
while True:
    rows = torch.randperm(256)[:32]
    loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.serial
def test_a_script_without_an_end_leaves_the_instruments_their_time(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(ENDLESS)
    report = checkup(path, seconds=2, budget=60, most_reruns=0)
    assert report.run_outcome == "timed_out" and report.outcome == "found", str(report)
    assert report.suspects[0].cause == "loss/double_softmax"
    assert "overfit_one_batch" in [verdict.instrument for verdict in report.verdicts], "the slowest one had its time"
    assert "at line" in report.why
