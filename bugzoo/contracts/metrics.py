"""scikit-learn's metrics: what wants scores and gets decisions."""

from typing import Any

import numpy as np
from torch.utils.data import DataLoader

from bugzoo.contracts.model import Call, Contract, Numbers
from bugzoo.contracts.splits import DOCS

_M = "sklearn.metrics."
_NO_MEANS = (
    "r2_score", "f1_score", "precision_score", "recall_score", "balanced_accuracy_score", "matthews_corrcoef",
    "roc_auc_score", "average_precision_score",
)  # fmt: skip
_NOT_SYMMETRIC = (
    "r2_score", "explained_variance_score", "mean_absolute_percentage_error", "precision_score", "recall_score",
    "balanced_accuracy_score", "confusion_matrix", "classification_report", "precision_recall_fscore_support",
)  # fmt: skip
IN_A_ROW = 3
"""Calls for one batch each, from which on a metric is said to be averaged over batches."""
FEW = 20
"""Fewer decisions than these say nothing: a handful of scores may be 0 and 1."""
_USES = (
    "import numpy as np\nfrom sklearn import metrics\nrng = np.random.default_rng(0)\ny = rng.integers(2, size=60)\n"
)
_USES += "scores = np.clip(y * 0.3 + rng.random(60), 0, 1)\n"
_BATCHES = (
    "from sklearn import metrics\nfrom torch.utils.data import DataLoader, TensorDataset\n"
    "loader = DataLoader(TensorDataset(torch.randn(64), torch.randn(64)), 8)\n"
)
_TRAINED = (
    _USES
    + "y, weight = rng.normal(size=60), nn.Parameter(torch.ones(1))\noptimizer = torch.optim.SGD([weight], lr=0.1)\n"
    "for epoch in range(4):\n    weight.sum().backward()\n    optimizer.step()\n    guess = rng.normal(size=60)\n"
)
_PAGE = "modules/model_evaluation.html#"


def _decided(call: Call) -> Numbers | None:
    """Look whether scores hold nothing but two values, as after a threshold."""
    raw: Any = call["y_score"]
    scores = np.asarray(raw, dtype=float).ravel()
    if len(scores) < FEW:
        return None
    return {"values": float(len(np.unique(scores))), "rows": float(len(scores))}


def _loaders(call: Call) -> list[DataLoader[Any]]:
    """Return the loaders that the calling function names: its variables, and those of its object or module."""
    if call.frame is None:
        return []
    local = dict(call.frame.f_locals)
    held = getattr(local.get("self"), "__dict__", {})
    return [
        loader
        for names in (local, held, call.frame.f_globals)
        for loader in names.values()
        if isinstance(loader, DataLoader)
    ]


def _of_batches(call: Call) -> Numbers | None:
    """Count calls in a row with as many rows as a loader gives at a time, and no optimizer step between them."""
    now = (call.made, len(call["y_true"]))
    steps, rows = call.kept.get("before", (0, 0))
    call.kept["before"] = now
    if steps != call.made or rows != now[1]:
        call.kept["row"] = 1
        return None
    call.kept["row"] = call.kept.get("row", 1) + 1
    if not any(loader.batch_size == rows and rows < len(loader.dataset) for loader in _loaders(call)):  # pyright: ignore
        return None
    return {"name": call.target.rpartition(".")[2], "calls": float(call.kept["row"]), "rows": float(rows)}


def _swapped(call: Call) -> Numbers | None:
    """Look whether the first argument moves between evaluations, and the second stays: predictions do, and targets do not."""
    first, second = (np.sort(np.asarray(call[name]).ravel()) for name in ("y_true", "y_pred"))
    before, call.kept["before"] = call.kept.get("before"), (call.made, first, second)
    if before is None or before[0] == call.made or before[1].shape != first.shape or len(first) < FEW:
        return None
    moved, stays = not np.array_equal(first, before[1]), np.array_equal(second, before[2]) and second[0] != second[-1]
    call.kept["times"] = call.kept.get("times", 0) + 1 if moved and stays else 0
    return {"times": float(call.kept["times"]), "name": call.target.rpartition(".")[2]}


CONTRACTS = (
    Contract(
        name="true_values_first",
        on=tuple(_M + name for name in _NOT_SYMMETRIC),
        demand="These metrics take the true values first, and the predictions second.",
        given="The first argument of `{name}` changes from one evaluation to the next, and the second stays the same.",
        instead="Write `metric(y_true, y_pred)`, or pass both by name.",
        page=DOCS + "api/sklearn.metrics.html",
        kind="convention",
        measure=_swapped,
        broken=lambda numbers: numbers["times"] >= 2,
        breaks=_TRAINED + "    metrics.r2_score(guess, y)",
        keeps=(
            _TRAINED + "    metrics.r2_score(y, guess)\n    metrics.precision_score(y > 0, guess > 0)\n"
            "    metrics.recall_score(np.zeros(60), guess > 0, zero_division=0)"
        ),
        wrong="Targets that are drawn anew for each evaluation of a model that always says the same.",
        explains=("by itself",),
    ),
    Contract(
        name="metric_averaged_over_batches",
        on=tuple(_M + name for name in _NO_MEANS),
        demand="These metrics are no means over rows: they are computed once, from all predictions of an evaluation.",
        given="`{name}` is computed for each batch of a loader, here for {rows:.0f} rows at a time.",
        instead="Collect predictions and targets of all batches, and call it once after the loop.",
        page=DOCS + _PAGE + "r2-score-the-coefficient-of-determination",
        kind="unit",
        measure=_of_batches,
        broken=lambda numbers: numbers["calls"] >= IN_A_ROW,
        breaks=_BATCHES + "for x, y in loader: metrics.r2_score(y, x)",
        keeps=(
            _BATCHES + "all_x, all_y = zip(*loader)\nmetrics.r2_score(torch.cat(all_y), torch.cat(all_x))\n"
            "for column in range(4): metrics.r2_score(torch.cat(all_y), torch.cat(all_x))"
        ),
        wrong="A mean over groups that is meant so, such as one for each user, with a loader that gives a group at a time.",
        explains=("by itself",),
        causes=("metrics/mean_of_batch_means",),
        every=True,
    ),
    Contract(
        name="ranking_metric_of_decisions",
        on=tuple(
            _M + name for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve")
        ),
        demand="Ranking metrics take scores or probabilities: decisions of 0 and 1 leave one point of the curve.",
        given="All {rows:.0f} scores are one of {values:.0f} values.",
        instead="Pass the logits or probabilities, without a threshold, `round` or `argmax`.",
        page=DOCS + _PAGE + "roc-metrics",
        kind="values",
        measure=_decided,
        broken=lambda numbers: numbers["values"] == 2,
        breaks=_USES + "metrics.roc_auc_score(y, scores > 0.5)",
        keeps=_USES + "metrics.roc_auc_score(y, scores)\nmetrics.roc_auc_score(y, np.zeros(60))",
        wrong="A rule without a score, whose decisions are all there is.",
        explains=("by itself",),
        argument=(1, "y_score"),
    ),
)
