"""A constant of shape (N, 1) beside numbers of shape (N,) near a loss, and what only looks like it."""

import pytest
import torch

from bugzoo.watching.graph import walk

N = 6


@pytest.mark.parametrize(
    ("loss", "stretched"),
    [
        (lambda out, row: (out * row[:, None]).mean(), True),  # outputs (N,), weights (N, 1)
        (lambda out, row: (out[:, None] * row).mean(), True),  # outputs (N, 1), weights (N,)
        (lambda out, row: (out[:, None] * (row > 0).float()).sum(), True),  # a mask
        (lambda out, row: (out * row).mean(), False),
        (lambda out, row: (out[:, None] * row[:, None]).mean(), False),
        (lambda out, row: (out[:, None] * row[None, :]).mean(), False),  # an outer product that says so
        (lambda out, row: (out[:, None] * torch.ones(3)).mean(), False),  # a weight for each of three columns
        (lambda out, row: (out * torch.tensor([2.0])).mean(), False),
    ],
)
def test_samples_that_meet_every_other_sample(loss, stretched):
    out, row = torch.randn(N, requires_grad=True).tanh(), torch.randn(N)
    graph = walk(loss(out, row))
    assert graph is not None and graph.mask_stretched is stretched
