"""How far down does the script's own step bring the loss on one single batch?

The body of the training loop is repeated on its first batch, from the first weights, until the loss is at a tenth of its
first value or the time is up.
"""

from typing import Any

from bugzoo.views import _draw
from bugzoo.views._seen import Seen, nothing

ORDER = ("overfit_one_batch",)
Numbers = Seen
measure = nothing


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the loss over the repetitions, from zero."""
    ax = _draw.axes(figure, "repetition of the step", "loss on the batch")
    repetitions, losses = (numbers.instruments.get(f"overfit_one_batch.{key}", []) for key in ("repetitions", "losses"))
    if not _draw.line(ax, repetitions, losses, "the script's own step"):
        _draw.absent(ax, "the step was not repeated")
        return
    first = numbers.instruments["overfit_one_batch.first_loss"]
    _draw.reference(ax, first / 10, "a tenth of the first loss")
    ax.set_ylim(bottom=min(0.0, min(losses)))
    _draw.end_labels(ax)
