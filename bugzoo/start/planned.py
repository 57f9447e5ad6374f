"""The lessons that come later, so that a gap in the numbers explains itself."""

from bugzoo import course

TITLES = {
    "04": "Silent bugs in the training loop",
    "05": "Reading loss curves",
    "07": "Clipping and initialization",
    "08": "Data bugs and data leakage",
    "11": "Fine-tuning a pretrained model",
    "12": "Mixed precision training",
    "13": "Out of memory, memory leaks",
    "14": "Autograd and shape errors",
    "15": "Reproducibility and seeds",
    "16": "Slow training and profiling",
    "17": "Distributed training (DDP)",
    "18": "Double descent and grokking",
    "19": "Ablations of popular claims",
    "20": "Debugging your own script",
}
"""Number -> title. No title names the fault of an exercise. A row is not used any more once its lesson is there."""


def planned() -> dict[str, str]:
    """Return number -> title of those without a lesson file."""
    return {number: title for number, title in TITLES.items() if number not in course.numbers()}
