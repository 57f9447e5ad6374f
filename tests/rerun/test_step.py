"""A replayed step gives the recorded loss to the last bit, and leaves no trace in the run's objects."""

import gc
from collections import deque
from functools import partial
from types import MethodType

import pytest
import torch

from bugzoo.errors import UserError
from bugzoo.watching import Trace
from bugzoo.watching.forwards import Forwards
from bugzoo.watching.history import History
from bugzoo.watching.hooks import Hooks
from bugzoo.watching.models import Models
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.state import State
from bugzoo.watching.step_context import StepContext
from tests.watching.styles import STYLES
from tests.watching.support import comparable, random_states, reach, run


@pytest.mark.sampled(3)
@pytest.mark.parametrize("style", STYLES)
def test_replays_are_faithful_and_change_nothing(style):
    names, trace = run(STYLES[style], f"{style}.py", watched=True)
    first, last = reach(trace)
    before, rng = comparable(names), random_states()
    grads = [p.grad for model in trace.live.models for p in model.parameters()]
    slots = [dict(optimizer.state) for optimizer in trace.live.optimizers]
    for step in sorted({first, (first + last) // 2, last}):
        replay = trace.replay(step)
        assert replay.faithful, replay
        skipped = {event.step for event in trace.events if event.kind == "skipped_step"}
        assert (replay.first is None) == (step not in skipped)
    assert comparable(names) == before
    assert random_states() == rng
    assert all(a is b for a, b in zip(grads, (p.grad for m in trace.live.models for p in m.parameters()), strict=True))
    assert all(dict(o.state).keys() == slot.keys() for o, slot in zip(trace.live.optimizers, slots, strict=True))


def test_the_replay_says_when_it_is_not_faithful():
    """The loop reads a clock that no snapshot knows: the loss comes out differently, and the replay says so."""
    source = """
import itertools, torch
clock = itertools.count()
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    opt.zero_grad()
    loss = (net(torch.ones(4, 2)) - next(iter([next(clock)]))).pow(2).mean()
    loss.backward()
    opt.step()
"""
    _, trace = run(source, "clock.py", watched=True)
    replay = trace.replay(12)
    assert not replay.faithful
    assert "recorded" in replay.message


def test_a_batch_overwritten_in_place_is_named():
    source = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
buffer = torch.zeros(4, 3)
for x in [buffer] * 12:
    x.copy_(torch.rand(4, 3))
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
"""
    _, trace = run(source, "buffer.py", watched=True)
    with pytest.raises(UserError, match="overwritten in place"):
        trace.replay(6)


def test_out_of_reach_names_the_reach():
    _, trace = run(STYLES["fetched"].replace("< 30", "< 900"), "long.py", watched=True)
    first, last = reach(trace)
    assert first > 1 and last == 900
    with pytest.raises(UserError, match=f"Steps {first} to {last} can be replayed"):
        trace.replay(1)
    with pytest.raises(UserError, match="steps 1 to 900"):
        trace.replay(901)


def test_a_loaded_trace_and_one_without_snapshots_say_why(tmp_path):
    _, trace = run(STYLES["gan"], "gan.py", watched=True, snapshots=False)
    with pytest.raises(UserError, match="snapshots=True"):
        trace.replay(3)
    with pytest.raises(UserError, match="loaded from a file"):
        Trace.load(trace.save(tmp_path / "gan.npz")).replay(3)


def test_no_loop_is_said():
    source = """
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def once():
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
once(); once(); once()
"""
    _, trace = run(source, "unrolled.py", watched=True)
    with pytest.raises(UserError, match="No loop was found"):
        trace.replay(2)


def test_replay_inside_the_block_is_refused():
    refusals = []

    def ask(info):
        if info["step"] == 3:
            with pytest.raises(UserError, match="Leave the"):
                holder[0].replay(2)
            refusals.append(True)

    from bugzoo.watching import watch

    holder = []
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    with watch(on_step=ask) as trace:
        holder.append(trace)
        for _ in range(4):
            net(torch.ones(1, 2)).sum().backward()
            opt.step()
    assert refusals


def held_by(thing: object) -> set[type]:
    """Our classes that `thing` leads to, through containers and our own objects, not through the script's names."""
    classes, ids, left = set(), set(), [thing]
    while left:
        node = left.pop()
        if id(node) in ids:
            continue
        ids.add(id(node))
        internal = type(node).__module__.startswith("bugzoo.")
        classes |= {type(node)} if internal else set()
        if internal or isinstance(node, list | tuple | deque | MethodType | partial):
            left += gc.get_referents(node)
        elif isinstance(node, dict) and "__name__" not in node:
            left += node.values()
    return classes


def test_what_stays_of_a_run_does_not_lead_to_its_recorder():
    _, trace = run(STYLES["fetched"], "ring.py", watched=True)
    held = held_by(trace.live.past)
    assert {History, StepContext, Models, State} <= held, "it was looked for where it would be"
    assert not held & {Recorder, Hooks, Forwards, Trace}
