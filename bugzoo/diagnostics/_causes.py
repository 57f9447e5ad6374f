"""Where in a script a cause is to be found, keyed by `family/` or `family/bad_pattern`. Its words stand in the fault's file."""

from collections.abc import Callable
from typing import Any

from bugzoo.diagnostics import places as at
from bugzoo.diagnostics._source import Source

PLACES: dict[str, Callable[[Source], Any]] = {
    "loop/": Source.step,
    "loss/": Source.loss,
    "loss/double_softmax": at.double_softmax,
    "loss/sigmoid_into_bce_with_logits": at.double_sigmoid,
    "precision/": Source.backward,
    "attention/": at.softmax_in_model,
    "attention/mask_after_softmax": at.attention,
    "freezing/": at.optimizer,
    "freezing/frozen_layers": at.frozen,
    "modes/eval_mode_missing": at.no_grad,
    "modes/train_mode_not_restored": Source.backward,
    "graph/inplace_activation": at.in_place,
    "optimizer/": at.optimizer,
    "optimizer/lr_too_high": at.rate,
    "optimizer/lr_too_low": at.rate,
    "data/labels_out_of_sync": at.mixed,
    "memory/losses_kept_with_graph": at.kept,
    "memory/outputs_kept": at.kept,
    "speed/starved_loader": at.workers,
    "distributed/skipped_batch": at.left_out,
}
"""Each finds the statement that a cause lives in. A fault without a row has its family's."""

SOURCE_KNOWS = frozenset(
    {
        "attention/mask_after_softmax",
        "graph/inplace_activation",
        "optimizer/lr_too_high",
        "clipping/clipping_missing",
        "memory/losses_kept_with_graph",
        "distributed/skipped_batch",
    }
)
"""Of these the run sees the consequence, and the source shows the place that made it."""
