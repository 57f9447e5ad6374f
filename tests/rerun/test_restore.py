"""Putting back what a step changed, from its copies."""

import random

import numpy as np
import pytest
import torch

from bugzoo.rerun.model import check_indices
from bugzoo.rerun.restore import lent, restore, same_random, set_random, unchanged, with_weights
from bugzoo.watching.state import State


class Trainer:
    def __init__(self):
        self.optimizer = torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=1.0)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.5)
        self.done = 0

    def step(self):
        self.optimizer.step()
        self.scheduler.step()
        self.done += 1


def test_what_only_an_earlier_state_reaches_is_put_back_too():
    """A script has ended, and its trainer is reached by the snapshot of its first step alone."""
    trainer = Trainer()
    first = State([], [trainer.optimizer], {"__name__": __name__, "self": trainer}, rng=False)
    trainer.step()
    now = State([], [trainer.optimizer], {}, rng=False, earlier=first)
    restore(first)
    assert (trainer.scheduler.last_epoch, trainer.done) == (0, 0)
    restore(now)
    assert (trainer.scheduler.last_epoch, trainer.done) == (1, 1)
    assert trainer.optimizer.param_groups[0]["lr"] == 0.5


def test_every_kind_of_generator_goes_on_where_it_was():
    kinds = {
        "torch": torch.Generator().manual_seed(1), "python": random.Random(1), "old": np.random.RandomState(1),
        "new": np.random.default_rng(1),
    }  # fmt: skip

    def drawn():
        draws = [
            float(torch.rand(1, generator=kinds["torch"])),
            *(kinds[name].random() for name in ("python", "old", "new")),
        ]
        return draws, float(torch.rand(1)), random.random(), float(np.random.rand())

    state = State([], [], kinds, rng=True)
    first = drawn()
    set_random(state)
    assert drawn() == first != drawn()


def test_a_model_is_as_before_also_where_it_raises():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Dropout())
    model[1].eval()
    before, rng = {name: value.clone() for name, value in model.state_dict().items()}, torch.get_rng_state()
    with pytest.raises(ValueError, match="meant"), unchanged(model):
        model.train()(torch.randn(4, 2))
        raise ValueError("meant")
    assert [module.training for module in model] == [True, False, True] and torch.equal(torch.get_rng_state(), rng)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_what_is_lent_is_given_back():
    model, generator = torch.nn.Linear(2, 1), torch.Generator().manual_seed(3)
    weight, state, rng = model.weight.clone(), generator.get_state(), torch.get_rng_state()
    with with_weights(model, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}):
        assert model.weight.sum() == 2
    with same_random(generator), lent(model, "in_features", 7):
        torch.rand(2, generator=generator), torch.rand(2)
        assert model.in_features == 7
    assert torch.equal(model.weight, weight) and model.in_features == 2
    assert torch.equal(generator.get_state(), state) and torch.equal(torch.get_rng_state(), rng)


@pytest.mark.parametrize("asked", [-1, 5])
def test_an_index_that_an_embedding_does_not_have_is_refused_before_the_kernel(asked):
    """On CUDA the kernel's own assert ends the process's use of the device, so `quiet` asks first, in the same words."""
    table = torch.nn.Embedding(5, 2)
    check_indices(table, (torch.tensor([0, 4]),))
    with pytest.raises(IndexError) as kernel_error:
        table(torch.tensor([asked]))
    with pytest.raises(IndexError) as early_error:
        check_indices(table, (torch.tensor([0, asked]),))
    assert str(early_error.value) == str(kernel_error.value)
