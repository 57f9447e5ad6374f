"""The first non-finite operation: step, module, operation, direction and line, without training again."""

import numpy as np
import pytest

from bugzoo.rerun import explain
from tests.watching.support import run

NET = """
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(6, 16)
        self.layer2 = nn.Linear(16, 16)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(16, 3)
    def forward(self, inputs, step):
        hidden = torch.relu(self.layer1(inputs))
        hidden = self.drop(self.layer2(hidden))
        if step >= 20:
            hidden = BREAK
        return self.head(torch.relu(hidden))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(60):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    opt.zero_grad()
    value = nn.functional.cross_entropy(net(x, step), y)
    value.backward()
    opt.step()
"""


def first(source: str, name: str = "broken.py", **settings):
    _, trace = run(source, name, watched=True, **settings)
    return trace, trace.first_non_finite()


def test_log_of_zero_hidden_by_a_relu():
    """The output is -inf, the ReLU hides it, the loss is finite, the gradient is NaN: all at the same step."""
    trace, event = first(NET.replace("BREAK", "torch.log(hidden - hidden.min())"))
    line = 1 + NET.splitlines().index("            hidden = BREAK")
    assert event.step == 21 and np.isfinite(trace.loss[20]) and np.isnan(trace.grad_norm[20])
    assert (event.data["op"], event.data["module"], event.data["direction"]) == ("log", "Net", "forward")
    assert (event.data["file"], event.data["line"]) == ("broken.py", line)
    assert trace.outcome == "non_finite"
    replay = trace.replay(21)
    assert replay.faithful and replay.first["op"] == "log" and "log" in replay.message


def test_nothing_is_run_again_before_it_is_asked_for(monkeypatch):
    """The call that asks for the operation runs the step again, once; the end of the watch does not."""
    _, trace = run(NET.replace("BREAK", "torch.log(hidden - hidden.min())"), "asked.py", watched=True)
    original, times = explain.execute, []
    monkeypatch.setattr(explain, "execute", lambda *args: times.append(args) or original(*args))
    assert trace.earliest("non_finite").data.get("op") is None and times == []
    assert [trace.first_non_finite().data["op"] for _ in range(2)] == ["log", "log"] and len(times) == 1


def test_with_a_small_epsilon_nothing_happens():
    trace, event = first(NET.replace("BREAK", "torch.log(hidden - hidden.min() + 1e-9)"))
    assert event is None and trace.outcome == "finished"


def test_a_gradient_that_only_the_backward_pass_makes():
    """sqrt(0) is fine forward and infinite backward."""
    _, event = first(NET.replace("BREAK", "hidden * torch.sqrt((hidden - hidden).abs()) + hidden"))
    assert event.step == 21
    assert (event.data["op"], event.data["direction"]) == ("sqrt", "backward")
    assert event.data["code"].startswith("hidden = hidden * torch.sqrt")


def test_a_mask_of_minus_infinity_is_not_blamed():
    """masked_fill with -inf is usual; a row that is masked whole is what makes NaN, in the softmax."""
    change = (
        "hidden.masked_fill(torch.ones_like(hidden).bool() if step >= 30 else hidden > 9, float('-inf')).softmax(-1)"
    )
    _, event = first(NET.replace("BREAK", change))
    assert event.step == 31 and event.data["op"] == "softmax"


def test_parameters_that_the_update_blew_up():
    source = NET.replace("BREAK", "hidden").replace(
        "    opt.step()\n", "    if step == 24:\n        opt.param_groups[0]['lr'] = float('inf')\n    opt.step()\n"
    )
    _, event = first(source)
    assert event.step == 25
    assert (event.data["op"], event.data["direction"]) == ("Adam", "update")


def test_bad_data_is_named():
    source = NET.replace("BREAK", "hidden").replace(
        "    opt.zero_grad()\n", "    if step == 33:\n        x[2, 1] = float('nan')\n    opt.zero_grad()\n"
    )
    _, event = first(source)
    assert event.step == 34
    assert (event.data["op"], event.data["module"]) == ("input", "Net")


def test_the_first_step_is_within_reach():
    _, event = first(NET.replace("BREAK", "torch.log(hidden - hidden.min())").replace("step >= 20", "step >= 0"))
    assert event.step == 1 and event.data["op"] == "log"


def test_stale_gradients_do_not_hide_it():
    """Older gradients in .grad: the step is replayed from the ring, not from the moment itself."""
    source = NET.replace("BREAK", "torch.log(hidden - hidden.min())").replace("    opt.zero_grad()\n", "")
    _, event = first(source)
    assert event.step == 21 and event.data["op"] == "log" and event.data["faithful"]


@pytest.mark.parametrize("settings", [{"snapshots": False}])
def test_without_snapshots_the_step_is_still_known(settings):
    _, event = first(NET.replace("BREAK", "torch.log(hidden - hidden.min())"), **settings)
    assert event.step == 21 and event.data["op"] is None and event.data["parameter"]


DRAWS = """
import itertools, torch
draws = itertools.chain([1.0] * 44, [0.0], [1.0] * (5 + 3), itertools.repeat(0.0))  # a replay goes on where the run ended
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(50):
    opt.zero_grad()
    out = net(torch.ones(4, 2))
    loss = out.pow(2).mean() + 0.1 * (out * next(draws)).pow(2).sum().sqrt()
    loss.backward()
    opt.step()
"""


def test_a_re_run_that_is_another_step_does_not_call_its_own_nan_an_input():
    """No snapshot holds an iterator. On the way to step 45 the re-run draws a 0 too early, and its weights become NaN."""
    _, trace = run(DRAWS, "draws.py", watched=True)
    trace.explain()
    event = trace.first_non_finite()
    assert event.step == 45 and event.data["op"] != "input" and not event.data.get("faithful"), event
