"""One kept batch as plain numbers: which batch, its samples by kind (image, tokens, table), its labels."""

import ast
import math
from typing import Any

import torch
import torch.nn.functional as F

from bugzoo.diagnostics._sequences import Call, is_tokens
from bugzoo.diagnostics._tools import batches, column, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import live, tensors
from bugzoo.running.result import Run
from bugzoo.syntax import called, parse
from bugzoo.views import _vocabulary
from bugzoo.views._at_step import ASKED
from bugzoo.watching.live import Batch

SAMPLES, SIDE, COLUMNS, LETTERS, LABELS = 8, 16, 24, 170, 32
"""Samples; longest side of an image, which is averaged down; columns of a table; letters of a text; labels a batch."""
SQUARES = {side * side: side for side in (8, 16, 28, 32, 64)}
"""Numbers of features that are taken for a flattened image -> its side."""


def chosen(run: Run, step: int | None) -> Batch:
    """Return the first kept batch, or that of `step`. If none was kept, return what the loop fetched before a crash.

    Raises NotApplicable.
    """
    kept = live(run)
    found = [one for one in (getattr(kept, ASKED, None), *kept.batches) if one is not None and step in (None, one.step)]
    if found:
        return found[0] if step is not None else min(found, key=lambda one: one.step)
    last = int(max(column(run.trace.step), default=0))
    if step is not None:
        beyond = not 1 <= step <= last
        raise NotApplicable(f"the run has steps 1 to {last}" if beyond else f"the batch of step {step} was not kept")
    fetched = _fetched(run)
    if not fetched:
        raise NotApplicable("the watch kept no batch of a model")
    return Batch(last + 1, (fetched[0],), {}, fetched[1] if len(fetched) > 1 else None, math.nan)


def _fetched(run: Run) -> list[torch.Tensor]:
    """Return the tensors that the training loop's first statement, or the loop itself, assigned last."""
    for loop in ast.walk(parse(run.source)):
        if isinstance(loop, ast.For | ast.While) and "backward" in called(loop):
            inner = [one for one in ast.walk(loop) if isinstance(one, ast.For) and "backward" in called(one)]
            first = [one.target for one in inner[-1:]] + [one for one in (inner or [loop])[-1].body[:1]]
            names = [node.id for part in first for node in ast.walk(part) if isinstance(node, ast.Name)]
            found = [run.namespace.get(name) for name in dict.fromkeys(names)]
            return [one for one in found if isinstance(one, torch.Tensor) and one.ndim]
    return []


def inputs(batch: Batch) -> torch.Tensor:
    """Return the (samples, ...) input of the batch. Raises NotApplicable without a tensor."""
    call = Call.of(batch)
    place = call.main()
    given = [call.leaves[place]] if place is not None else tensors((batch.args, batch.kwargs))
    x = max(given, key=lambda one: one.numel(), default=None)
    if x is None or not x.numel():
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    return torch.atleast_1d(x.detach().cpu())


def labels(batch: Batch, count: int) -> torch.Tensor | None:
    """Return the (count, labels of a sample) targets, None where they do not belong to single samples."""
    y = batch.targets
    return None if y is None or not y.numel() or y.numel() % count else y.detach().cpu().reshape(count, -1)


def drawn(run: Run, batch: Batch, x: torch.Tensor, y: torch.Tensor | None) -> dict[str, Any]:
    """Return `kind`, `samples` and `labels` of a few samples. Those with a value that is not finite come first."""
    finite = torch.isfinite(x.flatten(1).float()).all(1) if x.ndim > 1 else torch.isfinite(x.float())
    rows = finite.int().argsort(stable=True)[:SAMPLES]
    x, y = x[rows], None if y is None else y[rows]
    if is_tokens(x) or (x.ndim == 2 and not x.is_floating_point()):
        return _tokens(run, batch, x, y)
    numbers = {"labels": [_label(one) for one in y] if y is not None else []}
    if (found := _images(x.float())) is not None:
        size = min(SIDE, found.shape[1]), min(SIDE, found.shape[2])
        small = F.adaptive_avg_pool2d(found[:, None], size)[:, 0]
        return numbers | {"kind": "images", "side": list(found.shape[1:]), "samples": _rounded(small)}
    return numbers | {"kind": "table", "samples": _rounded(x.float().reshape(len(x), -1)[:, :COLUMNS])}


def _images(x: torch.Tensor) -> torch.Tensor | None:
    """(samples, height, width), the mean over the channels; None for a table."""
    if x.ndim == 2 and x.shape[1] in SQUARES:
        return x.unflatten(1, (-1, SQUARES[x.shape[1]]))
    if x.ndim == 4:
        return x.mean(-1) if x.shape[-1] in (1, 3) and x.shape[1] > 4 else x.mean(1)
    return x if x.ndim == 3 and min(x.shape[1:]) > 1 else None


def _tokens(run: Run, batch: Batch, x: torch.Tensor, y: torch.Tensor | None) -> dict[str, Any]:
    words = vocabulary(run, batch, x)
    many = y is not None and y.shape[1] > 1 and not y.is_floating_point()
    return {
        "kind": "tokens",
        "samples": [_cut(words.text(one)) for one in x.tolist()],
        "labels": [_label(one) for one in y] if y is not None and not many else [],
        "targets": [_cut(words.text(one)) for one in y.tolist()] if y is not None and many else [],
    }


def vocabulary(run: Run, batch: Batch, ids: torch.Tensor) -> _vocabulary.Vocabulary:
    return _vocabulary.find(run.namespace or live(run).namespace, batch.module, ids)


def _cut(text: str) -> str:
    """Leave out the middle of a long text: its end shows the padding."""
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 40]} … {text[-37:]}"


def _label(values: torch.Tensor) -> str:
    text = ", ".join(f"{one:.3g}" if values.is_floating_point() else str(one) for one in values[:2].tolist())
    return text + ", …" * (len(values) > 2)


def _rounded(values: torch.Tensor) -> Any:
    def short(one: Any) -> Any:
        return [short(value) for value in one] if isinstance(one, list) else float(f"{one:.3g}")

    return short(values.tolist())


def in_order(run: Run, shown: Batch) -> dict[str, Any]:
    """Return `order_steps` and `order_labels`: some labels of each kept batch, in the order of the steps."""
    try:
        found = {one.step: one for one in (*batches(run), shown)}
    except NotApplicable:
        return {}
    kept = [(step, one.targets) for step, one in sorted(found.items()) if one.targets is not None]
    if not kept or model_of(run, shown) is not model_of(run, live(run).batches[0]):
        return {}
    return {"order_steps": [float(step) for step, _ in kept], "order_labels": [_some(y) for _, y in kept]}


def _some(y: torch.Tensor) -> list[float]:
    flat = y.detach().cpu().flatten()
    flat = flat if flat.is_floating_point() else flat[flat >= 0]  # below zero: ignored targets
    places = torch.linspace(0, len(flat) - 1, min(LABELS, len(flat))).long()
    return [float(f"{one:.4g}") for one in flat[places].tolist()]
