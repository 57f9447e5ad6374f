"""Watching changes nothing: same losses, same weights, same random states, to the last bit."""

import random

import numpy as np
import pytest
import torch

from bugzoo import programs
from bugzoo.scenario import Scenario
from bugzoo.watching.recorder import Recorder
from tests.sampling import only_in_prove

from .more_styles import COMPILED, MORE
from .styles import STYLES
from .support import comparable, random_states, run


def same_with_and_without(source: str, name: str) -> None:
    bare, _ = run(source, name, watched=False)
    bare_rng = random_states()
    watched, trace = run(source, name, watched=True)
    watched_rng = random_states()
    if watched_rng != bare_rng:  # a module imported by the first run alone may have drawn from Python's random
        run(source, name, watched=False)
        bare_rng = random_states()
    assert watched_rng == bare_rng
    assert comparable(watched) == comparable(bare)
    assert len(trace.step) > 0


@pytest.mark.parametrize("style", [*STYLES, *MORE])
def test_other_styles(style):
    same_with_and_without({**STYLES, **MORE}[style], f"{style}.py")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")
def test_compiled():
    """The graph is traced by dynamo: it must be the same one with a watch around it.

    torch itself warns, once, that global hooks also hear the compiled module's wrapper: the watch is one of those.
    """
    same_with_and_without(COMPILED, "compiled.py")


WHOLE = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
compiled = torch.compile(model, backend="eager", dynamic=False)
optimizer = torch.optim.Adam(model.parameters())
for step in range(20):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(compiled(torch.randn(4, 8)), torch.arange(4) % 3)
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        with torch.no_grad():
            model(torch.randn(4, 8))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")
def test_a_compiled_model_is_still_one_graph_and_one_model():
    """dynamo looks through global hooks: what it found in ours it could not follow, and the run ended there."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    _, trace = run(WHOLE, "whole.py", watched=True)
    assert (
        not counters["graph_break"] and counters["stats"]["unique_graphs"] <= 2
    )  # with the hook that samples, and without
    assert [entry.module for entry in trace.forwards if entry.grad] == ["Sequential"]
    assert [entry.name for entry in trace.parameters] == ["0.weight", "0.bias", "2.weight", "2.bias"]


def short(name: str) -> dict[str, object]:
    """Settings for a run of a few dozen steps."""
    program = programs.load(name)
    settings = {key: value for key, value in {"epochs": 1, "steps": 10}.items() if key in program.settings}
    return settings


QUICK = ("mlp", "mini_transformer", "sentiment_lstm")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name in QUICK else only_in_prove(name) for name in programs.names()])
def test_programs(name):
    if programs.load(name).facts.get("ranks", 1) > 1:
        pytest.skip("several ranks: watched in their own processes, see tests/running")
    same_with_and_without(Scenario(name, settings=short(name)).source, f"{name}.py")


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_programs_in_full(name):
    same_with_and_without(Scenario(name).source, f"{name}.py")


def test_batches_come_in_the_same_order():
    """Also with workers' seeds and a sampler drawn from torch's global state."""
    source = STYLES["functions"].replace("record.append(error.item())", "record.append(x[:, 0].tolist())")
    bare, _ = run(source, "order.py", watched=False)
    watched, _ = run(source, "order.py", watched=True)
    assert watched["record"] == bare["record"] and len(bare["record"]) > 20


def test_a_watcher_that_draws_one_number_is_noticed(monkeypatch):
    """One random number, drawn by the watch itself at one step: losses and states differ, and the test above is red."""
    original = Recorder.before_step

    def drawing(self, *args, **kwargs):
        if self.moment.step == 7:
            torch.rand(1)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Recorder, "before_step", drawing)
    with pytest.raises(AssertionError):
        same_with_and_without(STYLES["accumulation"], "drawn.py")


@pytest.mark.slow
@pytest.mark.sampled(0)
@pytest.mark.parametrize("generator", ["np.random.rand()", "random.random()"])
def test_drawing_from_other_generators_is_noticed(generator, monkeypatch):
    original = Recorder.after_step

    def drawing(self, *args, **kwargs):
        eval(generator, {"np": np, "random": random})
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Recorder, "after_step", drawing)
    with pytest.raises(AssertionError):
        same_with_and_without(STYLES["accumulation"], "drawn.py")


def test_the_comparison_can_fail():
    """What `on_step` draws is the caller's, and is seen."""
    source = STYLES["accumulation"]
    bare, _ = run(source, "drawn.py", watched=False)
    watched, _ = run(source, "drawn.py", watched=True, on_step=lambda info: torch.rand(1))
    assert comparable(watched)["record"] != comparable(bare)["record"]


def test_nothing_stays_behind():
    from torch.nn.modules import module
    from torch.optim import optimizer

    places = [value for name, value in sorted(vars(module).items()) if name.startswith("_global_") and "hooks" in name]
    places = [place for place in places if isinstance(place, dict)]
    places += [optimizer._global_optimizer_pre_hooks, optimizer._global_optimizer_post_hooks]
    assert len(places) > 8
    before = [len(place) for place in places]
    Scaler, Module = torch.amp.GradScaler, torch.nn.Module
    patched = torch.autograd.backward, Scaler.scale, Scaler.step, Module.load_state_dict
    run(STYLES["amp"], "amp.py", watched=True)
    with pytest.raises(ZeroDivisionError):
        run(STYLES["gan"] + "\n1 / 0", "broken.py", watched=True)
    assert [len(place) for place in places] == before
    assert patched == (torch.autograd.backward, Scaler.scale, Scaler.step, Module.load_state_dict)


ON_META = """
import torch
from torch import nn
model = nn.Linear(8, 3, device="meta")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8)).sum()
    loss.backward()
    optimizer.step()
"""


def test_the_error_of_a_model_without_numbers_is_its_own():
    """Nothing of the watch asks a meta tensor for a number, which would raise another error in its place."""
    with pytest.raises(RuntimeError, match="is not on the expected device"):
        run(ON_META, "meta.py", watched=True)
