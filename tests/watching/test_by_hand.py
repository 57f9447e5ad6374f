"""Gradients from torch.autograd.grad, put into .grad by the script itself."""

import numpy as np
import pytest

from .more_styles import BY_HAND
from .support import run

LOOP = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
record = []
for _ in range(20):
    x = torch.randn(6, 4)
    off = net(x).pow(2).mean()
    {given}
    opt.step()
    record.append(off.item())
"""
ASK = "slopes = torch.autograd.grad(off, [*net.parameters()])\n    "


def watched(given: str):
    names, trace = run(LOOP.format(given=given), "given.py", watched=True)
    return names["record"], trace


def test_the_loss_is_seen_and_the_gradients_are_fresh():
    names, trace = run(BY_HAND, "by_hand.py", watched=True)
    assert trace.loss.tolist() == names["record"]
    assert (trace.backwards == 1).all() and (trace.leftover == 0).all()
    # a step whose time was all spent waiting for a processor has none
    assert np.isfinite(trace.forward_ms).mean() > 0.5 and trace.replay(30).faithful


@pytest.mark.parametrize(
    "put", ["p.grad = g", "p.grad = g * 0.1", "p.grad = p.grad.copy_(g) if p.grad is not None else g"]
)
def test_replacing_the_older_gradient_leaves_nothing_of_it(put):
    _, trace = watched(f"{ASK}for p, g in zip(net.parameters(), slopes):\n        {put}")
    assert (trace.leftover == 0).all()


@pytest.mark.parametrize(
    "put", ["p.grad = g if p.grad is None else p.grad + g", "p.grad = g + (0 if p.grad is None else p.grad)"]
)
def test_adding_to_the_older_gradient_is_seen(put):
    _, trace = watched(f"{ASK}for p, g in zip(net.parameters(), slopes):\n        {put}")
    assert trace.leftover[0] == 0 and (trace.leftover[1:] > 0.1).all()


def test_adding_to_the_older_gradient_is_seen_behind_clipping():
    put = "p.grad = g if p.grad is None else p.grad + g"
    body = f"{ASK}for p, g in zip(net.parameters(), slopes):\n        {put}\n    "
    _, trace = watched(body + "torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)")
    assert (trace.leftover[1:] > 0.1).all()
    _, trace = watched(f"{ASK}for p, g in zip(net.parameters(), slopes):\n        p.grad = g.clamp(-0.05, 0.05)")
    assert (trace.leftover == 0).all()


def test_two_parts_of_a_batch_are_both_counted():
    again = f"{ASK}more = torch.autograd.grad(net(x * 2).pow(2).mean(), [*net.parameters()])\n    "
    _, trace = watched(again + "for p, g, m in zip(net.parameters(), slopes, more):\n        p.grad = (g + m) / 2")
    assert (trace.backwards == 2).all() and (trace.leftover == 0).all()


@pytest.mark.parametrize(
    "given",
    [
        "torch.autograd.grad(off, [net.weight], retain_graph=True)\n    opt.zero_grad()\n    off.backward()",
        "opt.zero_grad()\n    off.backward(retain_graph=True)\n    torch.autograd.grad(off, [net.weight])",
    ],
)
def test_asking_for_a_gradient_beside_backward_changes_nothing(given):
    record, trace = watched(given)
    assert (trace.backwards == 1).all() and (trace.leftover == 0).all() and trace.loss.tolist() == record
    assert trace.environment["backwards"] == 20


def test_a_penalty_on_the_inputs_is_no_backward_pass():
    body = "opt.zero_grad()\n    x.requires_grad_()\n    off = net(x).pow(2).mean()\n    "
    body += "slope, = torch.autograd.grad(off, x, create_graph=True)\n    (off + slope.pow(2).sum()).backward()"
    record, trace = watched(body)
    assert (trace.backwards == 1).all() and (trace.loss > np.asarray(record)).all()


def test_a_step_on_gradients_of_unknown_origin_is_not_called_old():
    body = "for p in net.parameters():\n        p.grad = p.detach() * 2"
    _, trace = watched(body)
    assert not (trace.leftover > 0).any()
    _, trace = watched("if not record:\n        off.backward()")
    assert (trace.leftover[1:] == 1).all()


def test_an_edge_of_the_graph_is_handed_on_as_it_is():
    body = "opt.zero_grad()\n    torch.autograd.grad(off, torch.autograd.graph.get_gradient_edge(net.weight), "
    record, trace = watched(body + "retain_graph=True)\n    off.backward()")
    assert trace.loss.tolist() == record and (trace.backwards == 1).all()
