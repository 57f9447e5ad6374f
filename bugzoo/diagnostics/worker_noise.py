"""Does each DataLoader worker draw its own random numbers?

Each worker starts as a copy of the training process, and so does each generator in the script or in the dataset. Without a
seed of its own every worker draws the same numbers, and again in every epoch. One batch is fetched a few times through
workers that start as the script starts them. `noise` says whether anything in it is random (1: yes), `identical` whether two
workers drew the same, and `repeated` whether the first draw of another epoch is the same as well.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import need_steps
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import tensors
from bugzoo.rerun.permit import ask
from bugzoo.rerun.restore import same_random
from bugzoo.running.result import Run

COST = 1
VIEW = "repeat"
TITLE = "Random numbers of the workers"
KNOWN_PROBLEMS = (
    "A false positive for samples that depend on a call counter in each worker, as in a curriculum without "
    "randomness. "
    "It says nothing below two workers, and misses numbers that differ between workers but repeat every epoch."
)
_NOISE = "torch.randn(x.shape{})"
_LOADER = (
    "for epoch",
    "own = torch.Generator().manual_seed(0)\n"
    "def noisy(rows):\n    x, y = torch.utils.data.default_collate(rows)\n    return x + 0.01 * {}, y\n"
    "data = torch.utils.data.TensorDataset(inputs, targets)\n"
    "loader = torch.utils.data.DataLoader(data, 32, shuffle=True, num_workers=2, collate_fn=noisy)\nfor epoch",
)
_REST = (
    ("    for rows in torch.randperm(256).split(32):", "    for x, y in loader:"),
    ("logits = model(inputs[rows])", "logits = model(x)"),
    ("targets[rows]", "y"),
)
HEALTHY = example((_LOADER[0], _LOADER[1].format(_NOISE.format(""))), *_REST)
SICK = example((_LOADER[0], _LOADER[1].format(_NOISE.format(", generator=own"))), *_REST)


@dataclass(kw_only=True)
class Numbers(Measured):
    """A count, and flags that are 0 or 1."""

    workers: float = number("worker processes of the loader")
    noise: float = number("workers that draw random numbers (1: yes)")
    identical: float = number("share of draws that two workers have in common", (0, 0))
    repeated: float = number("share of draws that two epochs have in common", (0, 0))


same_draws = Alarm(
    above("identical"),
    "2 workers of a loader fetched the same batch. Both drew the same random numbers.",
    "They should draw different ones.",
)
ALARMS = (same_draws,)


def measure(run: Run) -> Numbers:
    """Zeros and ones. Raises NotApplicable where the training loop's loader has fewer than two workers."""
    need_steps(run, 1)
    loader = training_loader(run)
    if loader is None or loader.num_workers < 2 or loader.batch_sampler is None:
        raise NotApplicable("the training loop reads no DataLoader with two or more workers")
    ask(run)  # the rows are fetched again, by the script's own code
    try:
        with same_random():
            rows = list(next(iter(loader.batch_sampler)))
            first, next_epoch = (_fetched(loader, rows) for _ in range(2))
    except Exception as error:  # a dataset may do anything
        raise NotApplicable(f"the workers cannot be started once more ({type(error).__name__})") from None
    noise = not _same(first[0], first[2])
    return Numbers(
        noise=float(noise),
        identical=float(noise and _same(first[0], first[1])),
        repeated=float(noise and _same(first[0], next_epoch[0])),
        workers=float(loader.num_workers),
    )


def _fetched(loader: DataLoader[Any], rows: list[int]) -> list[list[torch.Tensor]]:
    """The tensors of one batch that is fetched three times: by the first worker, by the second, and by the first again."""
    again = DataLoader(
        loader.dataset,
        batch_sampler=[rows] * 3,
        num_workers=2,
        collate_fn=loader.collate_fn,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=loader.multiprocessing_context,
        timeout=20,
    )
    return [[tensor.clone() for tensor in tensors(batch)] for batch in again]


def _same(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    return len(first) == len(second) and all(map(torch.equal, first, second))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires where two workers draw the same random numbers."""
    suspects: tuple[Suspect, ...] = ()
    text = "workers draw their own random numbers, or none"
    if same_draws(numbers):
        text = "two workers that fetch the same batch draw the same random numbers"
        text += ", and draw them again in the next epoch" if numbers.repeated else ""
        suspects = (Suspect("reproducibility/identical_worker_augmentation", 0.9, text),)
    return Verdict("worker_noise", bool(suspects), text, numbers.labeled(), suspects)
