"""What a batch, the model's answer and its loss are called: `inputs, targets` as `xb, yb`, `logits` as `scores`."""

from random import Random

from bugzoo.dialects._scopes import renamed

KIND = "names"
USUAL = {
    "inputs": ("xb", "batch_x", "features", "examples"),
    "targets": ("yb", "batch_y", "answers", "truth"),
    "logits": ("outputs", "scores", "preds", "y_hat"),
    "predictions": ("outputs", "preds", "y_hat", "estimates"),
    "loss": ("batch_loss", "objective", "cost", "error"),
}


def rewrite(source: str, draw: Random) -> str | None:
    return renamed(source, USUAL, draw)
