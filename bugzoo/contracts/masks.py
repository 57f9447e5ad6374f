"""Masks that are written by hand into scores."""

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

SMALL = 1e-3
"""A negative score nearer to 0 than this hides nothing from a softmax."""


def _value(call: Call) -> Numbers | None:
    """Look at a fixed value that scores get where a mask is True."""
    scores, value = call["self"], call["value"]
    if isinstance(value, torch.Tensor) or not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        return None
    return {"value": float(value), "small": float(-SMALL < value < 0)}


CONTRACTS = (
    Contract(
        name="masked_with_almost_nothing",
        on=("torch.Tensor.masked_fill", "torch.Tensor.masked_fill_"),
        demand="A softmax gives a masked place no weight if its score is -inf, or far below all others.",
        given="Masked places get the score {value:.3g}, which is almost 0.",
        instead="Fill with `float('-inf')`, or with -1e9 where a whole row may be masked.",
        page=PAGES + "generated/torch.Tensor.masked_fill_.html",
        kind="values",
        measure=_value,
        broken=lambda numbers: numbers["small"] > 0,
        breaks="torch.randn(2, 3).masked_fill(torch.ones(2, 3) > 0, -1e-9).softmax(-1)",
        keeps=(
            "scores, mask = torch.randn(2, 3), torch.ones(2, 3) > 0\nscores.masked_fill(mask, -1e9)\n"
            "scores.masked_fill(mask, float('-inf'))\nscores.masked_fill_(mask, 0.0)\nscores.masked_fill(mask, 1e-9)"
        ),
        wrong="A small negative number that is no score.",
        explains=("by itself",),
        own=True,
        like=lambda self, mask, value: None,
    ),
)
