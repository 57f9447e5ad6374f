"""Watching changes nothing: same losses, same weights, same random states, to the last bit."""

import pytest
import torch

from bugzoo import programs
from bugzoo.scenario import Scenario

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


@pytest.mark.parametrize("style", STYLES)
def test_other_styles(style):
    same_with_and_without(STYLES[style], f"{style}.py")


def short(name: str) -> dict[str, object]:
    """Settings for a run of a few dozen steps."""
    program = programs.load(name)
    settings = {key: value for key, value in {"epochs": 1, "steps": 10}.items() if key in program.settings}
    return settings


QUICK = ("mlp", "mini_transformer", "sentiment_lstm")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in programs.names()]
)
def test_programs(name):
    if programs.load(name).facts.get("ranks", 1) > 1:
        pytest.skip("several ranks: watched in their own processes, see tests/running")
    same_with_and_without(Scenario(name, settings=short(name)).source, f"{name}.py")


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_programs_in_full(name):
    same_with_and_without(Scenario(name).source, f"{name}.py")


def test_the_comparison_can_fail():
    """A watch that draws one random number would be noticed."""
    source = STYLES["accumulation"]
    bare, _ = run(source, "drawn.py", watched=False)
    watched, _ = run(source, "drawn.py", watched=True, on_step=lambda info: torch.rand(1))
    assert comparable(watched)["record"] != comparable(bare)["record"]


def test_nothing_stays_behind():
    from torch.nn.modules import module
    from torch.optim import optimizer

    places = (module._global_forward_pre_hooks, module._global_forward_hooks, optimizer._global_optimizer_pre_hooks,
              optimizer._global_optimizer_post_hooks)  # fmt: skip
    before = [len(place) for place in places]
    patched = torch.autograd.backward, torch.amp.GradScaler.scale, torch.amp.GradScaler.step
    run(STYLES["amp"], "amp.py", watched=True)
    with pytest.raises(ZeroDivisionError):
        run(STYLES["gan"] + "\n1 / 0", "broken.py", watched=True)
    assert [len(place) for place in places] == before
    assert patched == (torch.autograd.backward, torch.amp.GradScaler.scale, torch.amp.GradScaler.step)
