"""Putting back what a step changed, from its copies."""

import torch

from bugzoo.rerun.restore import restore
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
