"""Rows that are shuffled in place: features and labels in one order."""

import random
from typing import Any

import numpy as np

from bugzoo.contracts.model import Call, Contract, Numbers
from bugzoo.contracts.splits import DOCS, classes

LEAST = 20
"""Rows, from which on two arrays of one length are taken for features and labels."""
_PAGE = DOCS + "modules/generated/sklearn.utils.shuffle.html"
_USES = (
    "import random\nimport numpy as np\nfrom sklearn.utils import shuffle\n"
    "x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) // 12\n"
)


def _kind(rows: Any) -> str:
    """Return whether rows look like features or labels; "" for neither."""
    if isinstance(rows, list) and not isinstance(rows[0], int | str):
        return "features"
    array = np.asarray(rows)
    if classes(array) is not None:
        return "labels"
    return "features" if array.dtype.kind == "U" or (array.ndim >= 2 and array.shape[1] > 1) else ""


def _order(call: Call) -> Any:
    """Return what decides the order of this call: two calls with the same shuffle alike."""
    if call.target.startswith("sklearn"):
        seed = call["random_state"]
        return seed if isinstance(seed, int) else object()
    if call.target.startswith("random"):
        return random.getstate()
    state: Any = np.random.get_state()
    return state[1].tobytes(), state[2]


def _apart(call: Call) -> Numbers | None:
    """Look whether features and labels of as many rows are shuffled by two calls, one after the other."""
    rows = call["arrays"] if call.target.startswith("sklearn") else (call["x"],)
    before = call.shared.pop("before", None)
    if len(rows) != 1 or not hasattr(rows[0], "__len__") or len(rows[0]) < LEAST:
        return None
    kind, order = _kind(rows[0]), _order(call)
    call.shared["before"] = (call.target, kind, len(rows[0]), order)
    if (
        before is None
        or before[0] != call.target
        or before[2] != len(rows[0])
        or {before[1], kind} != {"features", "labels"}
    ):
        return None
    name = call.target.removeprefix("sklearn.utils.").replace("numpy", "np")
    return {"rows": float(len(rows[0])), "apart": float(order != before[3]), "name": name}


CONTRACTS = (
    Contract(
        name="shuffled_apart",
        on=("numpy.random.shuffle", "numpy.random.permutation", "random.shuffle", "sklearn.utils.shuffle"),
        demand="Features and labels are shuffled by one permutation: two calls draw two orders.",
        given="`{name}` shuffles features and labels of {rows:.0f} rows in two calls.",
        instead="Draw `order = rng.permutation(len(x))` once, and take `x[order]` and `y[order]`.",
        page=_PAGE,
        kind="order of calls",
        measure=_apart,
        broken=lambda numbers: numbers["apart"] > 0,
        breaks=_USES + "np.random.shuffle(x)\nnp.random.shuffle(y)",
        keeps=(
            _USES + "np.random.seed(0)\nnp.random.shuffle(x)\nnp.random.seed(0)\nnp.random.shuffle(y)\nshuffle(x, y)\n"
            "x = shuffle(x, random_state=0)\ny = shuffle(y, random_state=0)\nnp.random.permutation(60)\n"
            "rows = [*zip(x, y)]\nrandom.shuffle(rows)\nrandom.shuffle([*range(60)])"
        ),
        wrong="Features and labels of two datasets of the same length.",
        explains=("by itself",),
        causes=("data/labels_out_of_sync",),
        every=True,
    ),
)
