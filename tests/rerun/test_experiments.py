"""Changed copies of a script: each changes one thing, in whatever way the script is written, and nothing where there is none."""

import pytest

from bugzoo.diagnostics import NotApplicable
from bugzoo.diagnostics.checkup import checkup
from bugzoo.rerun.experiments import NAMES, changed
from bugzoo.running import Job, run_worker

SCRIPT = '''"""A docstring.

Of two paragraphs."""
from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
class Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.5)
    def fit(self, loader):
        for x, y in loader:
            with torch.autocast("cpu", torch.bfloat16):
                out = self.net(x)
            print("seen", x[0, 0].item(), out.dtype)
            before = self.net.bias.detach().clone()
            self.opt.zero_grad()
            torch.nn.functional.cross_entropy(8 * out.float(), y).backward()
            self.opt.step()
            print("moved", float((self.net.bias - before).norm()), self.opt.param_groups[0]["lr"])
data = TensorDataset(torch.randn(40, 4), torch.randint(2, (40,)))
Trainer().fit(DataLoader(data, 8))
'''


def ran(experiment=None):
    """Words that the script prints at each step, the first word's kind -> list."""
    run = run_worker(Job(changed(SCRIPT, experiment) if experiment else SCRIPT))
    assert run.outcome == "finished", run.trace.error
    rows = [line.split() for line in run.stdout.splitlines()]
    return {kind: [words[1:] for words in rows if words[0] == kind] for kind in ("seen", "moved")}


@pytest.fixture(scope="module")
def plain():
    return ran()


def test_a_tenth_of_the_rate_moves_a_tenth_as_far_and_the_script_sees_its_own_rate(plain):
    move = ran("tenth_of_the_rate")["moved"][0]
    assert float(move[0]) == pytest.approx(0.1 * float(plain["moved"][0][0]), rel=1e-4) and move[1] == "0.5"


def test_no_step_is_longer_than_a_clipped_gradient_allows(plain):
    assert max(float(words[0]) for words in plain["moved"]) > 0.5
    assert max(float(words[0]) for words in ran("clipped")["moved"]) <= 0.5


def test_full_precision_leaves_autocast_out(plain):
    assert {words[1] for words in plain["seen"]} == {"torch.bfloat16"}
    assert {words[1] for words in ran("full_precision")["seen"]} == {"torch.float32"}


def test_two_samples_come_again_and_again_as_many_times_as_before(plain):
    samples = ran("two_samples")["seen"]
    assert len(samples) == len(plain["seen"]) == 5 and len({words[0] for words in samples}) == 1


def test_another_seed_makes_other_data(plain):
    assert ran("other_seed")["seen"] != plain["seen"] == ran()["seen"]


def test_the_copy_keeps_docstring_and_future_in_front():
    for name in NAMES:
        lines = changed(SCRIPT, name).splitlines()
        assert name in lines[5] and lines[:5] == SCRIPT.splitlines()[:5]
    assert changed("@decorated\nclass A: pass\n", "clipped").splitlines()[1:] == ["@decorated", "class A: pass"]


@pytest.mark.parametrize("text", ['"""Nothing else."""\n', '"""One"""; x = 1\n'])
def test_a_script_with_no_place_for_it_says_why(text):
    with pytest.raises(NotApplicable):
        changed(text, "clipped")


TOO_FAST = """\
import torch
torch.manual_seed(0)
x = torch.randn(64, 4)
y = x @ torch.tensor([1.0, 2.0, 3.0, 4.0]) + 0.1 * torch.randn(64)
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=1.5)
for i in range(80):
    loss = ((net(x)[:, 0] - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_checkup_tries_them_where_there_is_a_budget_and_says_what_each_showed(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(TOO_FAST)
    report = checkup(path, budget=400)
    assert "a tenth of the learning rate" in report.tried and "two samples: the same losses" in report.tried
    (first,) = [suspect for suspect in report.suspects if suspect.cause == "optimizer/lr_too_high"]
    assert "five_minute_checklist" in first.instruments
    assert report.to_json()["tried"] == report.tried


@pytest.mark.slow
def test_without_a_budget_none_is_run_and_it_says_so(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(TOO_FAST)
    report = checkup(path, most_reruns=0)
    assert not report.tried
    assert [item["why"] for item in report.not_checked if item["instrument"] == "five_minute_checklist"] == [
        "this instrument runs the script 5 times more, which needs a --budget"
    ]
