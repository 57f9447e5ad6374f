"""Forward passes by mode: evaluations, and those of them that ran in training mode."""

from typing import Any

from bugzoo.plots._style import absent, bars, numbers_of, prepare


def draw(data: Any, ax: Any) -> None:
    """`data`: the instrument's numbers, or a Run that carries them."""
    numbers = numbers_of(data, "mode_watch")
    prepare(ax, "Forward passes", "count")
    rows = {
        "evaluations": "evaluations",
        "of these in training mode": "eval_in_train_mode",
        "training in eval mode": "train_in_eval_mode",
    }
    if not numbers or not bars(ax, {name: numbers[key] for name, key in rows.items()}):
        absent(ax, "no layer behaves differently in training and evaluation")
