"""`torch.utils.data`: samplers, loaders and datasets, and rows that are shuffled."""

import numpy as np
import torch
from torch.utils.data import WeightedRandomSampler

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_PAGE = PAGES + "data.html"


def _weights(call: Call) -> Numbers | None:
    sampler = call["sampler"]
    if not isinstance(sampler, WeightedRandomSampler):
        return None
    return {"weights": float(len(sampler.weights)), "samples": float(len(call["dataset"]))}


def _without_replacement(call: Call) -> Numbers | None:
    """Look whether weights are given for a draw of all rows without replacement, which takes each of them once."""
    if call["replacement"]:
        return None
    weights = torch.as_tensor(call["weights"], dtype=torch.float64)
    rows = int((weights > 0).sum())
    return {
        "samples": float(call["num_samples"]),
        "all": float(call["num_samples"] >= rows),
        "uneven": float(weights.amax() > weights.amin()),
    }


def _rows(call: Call) -> Numbers | None:
    """The dimensions of what `random.shuffle` swaps by `x[i], x[j] = x[j], x[i]`. Rows of an array are views of it."""
    rows = call["x"]
    if isinstance(rows, torch.Tensor):
        return {"views": 1.0, "name": "tensor", "dims": float(rows.ndim)}
    if isinstance(rows, np.ndarray):
        return {"views": float(rows.ndim > 1), "name": "array", "dims": float(rows.ndim)}
    return None


CONTRACTS = (
    Contract(
        name="random_shuffle_of_views",
        on=("random.shuffle",),
        demand="`random.shuffle` swaps items of a list. Rows of an array or a tensor are views: a swap writes over one.",
        given="It gets the {dims:.0f}-dimensional {name}, of which some rows are lost and others come several times.",
        instead="Write `rows[torch.randperm(len(rows))]`, or `rng.shuffle(rows)` with numpy's generator.",
        page="https://docs.python.org/3/library/random.html#random.shuffle",
        kind="shared object",
        measure=_rows,
        broken=lambda numbers: numbers["views"] > 0,
        breaks="import random\nrandom.shuffle(torch.arange(12).reshape(6, 2))",
        keeps=(
            "import random\nimport numpy as np\nrandom.shuffle([*range(6)])\nrandom.shuffle([*torch.ones(3, 2)])\n"
            "random.shuffle(np.arange(6))\nnp.random.default_rng(0).shuffle(np.ones((3, 2)))"
        ),
        wrong="No case is known.",
        explains=("by itself",),
    ),
    Contract(
        name="one_weight_per_sample",
        argument=(3, "sampler"),
        on=("torch.utils.data.DataLoader.__init__",),
        demand="`WeightedRandomSampler` takes one weight per sample of the dataset, and draws indices below their number.",
        given="It has {weights:.0f} weights, and the dataset has {samples:.0f} samples.",
        instead="Look each sample's weight up by its label: `weights = class_weights[labels]`.",
        page=_PAGE + "#torch.utils.data.WeightedRandomSampler",
        kind="shape",
        measure=_weights,
        broken=lambda numbers: numbers["weights"] != numbers["samples"],
        breaks=(
            "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler\n"
            "DataLoader(TensorDataset(torch.randn(30, 2)), sampler=WeightedRandomSampler([0.2, 0.3, 0.5], 30))"
        ),
        keeps=(
            "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler\n"
            "DataLoader(TensorDataset(torch.randn(30, 2)), sampler=WeightedRandomSampler([0.5] * 30, 10))"
        ),
        wrong="A dataset of which only the first samples are to be drawn.",
        explains=("by itself",),
    ),
    Contract(
        name="weights_without_replacement",
        argument=(2, "replacement"),
        on=("torch.utils.data.WeightedRandomSampler.__init__",),
        demand="`WeightedRandomSampler` balances classes by drawing with replacement: rare samples come several times.",
        given="It draws {samples:.0f} samples without replacement. These are all, so that each comes once.",
        instead="Leave out `replacement=False`.",
        page=_PAGE + "#torch.utils.data.WeightedRandomSampler",
        kind="convention",
        measure=_without_replacement,
        broken=lambda numbers: numbers["all"] > 0 and numbers["uneven"] > 0,
        breaks=(
            "from torch.utils.data import WeightedRandomSampler\n"
            "WeightedRandomSampler([0.1] * 9 + [0.9], 10, replacement=False)"
        ),
        keeps=(
            "from torch.utils.data import WeightedRandomSampler\nWeightedRandomSampler([0.1] * 9 + [0.9], 10)\n"
            "WeightedRandomSampler([0.1] * 9 + [0.9], 4, replacement=False)\n"
            "WeightedRandomSampler([0.1] * 9 + [0.0], 4, replacement=False)\n"
            "WeightedRandomSampler([0.5] * 10, 10, replacement=False)"
        ),
        wrong="Weights that are meant to decide the order alone.",
        explains=("by itself",),
    ),
)
