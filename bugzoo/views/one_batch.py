"""How far down does the script's own step bring the loss on one single batch?

The body of the training loop is repeated on its first batch, from the first weights, until the loss is at a tenth of its
first value or the time is up.
"""

from typing import Any

from bugzoo.running.result import Run
from bugzoo.views import _draw
from bugzoo.views.row import Row

ROWS = (
    Row("overfit_one_batch.steps", "steps on the batch"),
    Row("overfit_one_batch.first_loss", "first loss on the batch"),
    Row("overfit_one_batch.best_loss", "lowest loss on the batch"),
    Row("overfit_one_batch.ratio", "lowest loss over the first", (0, 0.5)),
    Row("overfit_one_batch.highest_loss", "highest loss on the batch"),
)


def measure(run: Run) -> dict[str, Any]:
    """Return nothing: the instrument measures the curve too."""
    return {}


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the loss over the repetitions, from zero."""
    ax = _draw.axes(figure, "repetition of the step", "loss on the batch")
    repetitions, losses = (numbers.get(f"overfit_one_batch.{key}", []) for key in ("repetitions", "losses"))
    if not _draw.line(ax, repetitions, losses, "the script's own step"):
        _draw.absent(ax, "the step was not repeated")
        return
    first = numbers["overfit_one_batch.first_loss"]
    ax.axhline(first / 10, color=_draw.GREY, linestyle=":", linewidth=1.2, label="a tenth of the first loss")
    ax.set_ylim(bottom=min(0.0, min(losses)))
    _draw.legend(ax)
