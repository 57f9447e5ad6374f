"""One kept batch as plain numbers: which batch, its samples by kind (image, tokens, table), its labels."""

import ast
import math
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

from bugzoo.diagnostics._sequences import Call, is_tokens
from bugzoo.diagnostics._tools import batches, column, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import live, tensors, variables
from bugzoo.running.result import Run
from bugzoo.syntax import called, parse
from bugzoo.views import _vocabulary
from bugzoo.views._at_step import ASKED
from bugzoo.watching.live import Batch

if TYPE_CHECKING:
    from bugzoo.views.batch import Numbers

SAMPLES, SIDE, COLUMNS, LETTERS, LABELS = 8, 16, 24, 170, 32
"""Samples; longest side of an image, which is averaged down; columns of a table; letters of a text; labels a batch."""
SQUARES = {side * side: side for side in (8, 16, 28, 32, 64)}
"""Numbers of features that are taken for a flattened image -> its side."""


def chosen(run: Run, step: int | None) -> Batch:
    """Return the first kept batch, or that of `step`. If none was kept, return what the loop fetched before a crash.

    Raises NotApplicable.
    """
    alive = live(run)
    candidates = (getattr(alive, ASKED, None), *alive.batches)
    matching = [batch for batch in candidates if batch is not None and step in (None, batch.step)]
    if matching:
        return matching[0] if step is not None else min(matching, key=lambda batch: batch.step)
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
            inner = [node for node in ast.walk(loop) if isinstance(node, ast.For) and "backward" in called(node)]
            first = [part.target for part in inner[-1:]] + [part for part in (inner or [loop])[-1].body[:1]]
            names = [node.id for part in first for node in ast.walk(part) if isinstance(node, ast.Name)]
            values = [variables(run).get(name) for name in dict.fromkeys(names)]
            return [value for value in values if isinstance(value, torch.Tensor) and value.ndim]
    return []


def inputs(batch: Batch) -> torch.Tensor:
    """Return the (samples, ...) input of the batch. Raises NotApplicable without a tensor."""
    call = Call.of(batch)
    place = call.main()
    arguments = [call.leaves[place]] if place is not None else tensors((batch.args, batch.kwargs))
    x = max(arguments, key=lambda tensor: tensor.numel(), default=None)
    if x is None or not x.numel():
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    return torch.atleast_1d(x.detach().cpu())


def labels(batch: Batch, count: int) -> torch.Tensor | None:
    """Return the (count, labels of a sample) targets, None where they do not belong to single samples."""
    y = batch.targets
    return None if y is None or not y.numel() or y.numel() % count else y.detach().cpu().reshape(count, -1)


def add_samples(numbers: "Numbers", run: Run, batch: Batch, x: torch.Tensor, y: torch.Tensor | None) -> None:
    """Add `kind`, `samples` and `labels` of a few samples. Those with a value that is not finite come first."""
    finite = torch.isfinite(x.flatten(1).float()).all(1) if x.ndim > 1 else torch.isfinite(x.float())
    rows = finite.int().argsort(stable=True)[:SAMPLES]
    x, y = x[rows], None if y is None else y[rows]
    if is_tokens(x) or (x.ndim == 2 and not x.is_floating_point()):
        _add_tokens(numbers, vocabulary(run, batch, x), x, y)
        return
    numbers.labels = [_label(label) for label in y] if y is not None else []
    if (images := _images(x.float())) is not None:
        size = min(SIDE, images.shape[1]), min(SIDE, images.shape[2])
        small = F.adaptive_avg_pool2d(images[:, None], size)[:, 0]
        numbers.kind, numbers.side, numbers.samples = "images", list(images.shape[1:]), _rounded(small)
    else:
        numbers.kind, numbers.samples = "table", _rounded(x.float().reshape(len(x), -1)[:, :COLUMNS])


def _images(x: torch.Tensor) -> torch.Tensor | None:
    """(samples, height, width), the mean over the channels; None for a table."""
    if x.ndim == 2 and x.shape[1] in SQUARES:
        return x.unflatten(1, (-1, SQUARES[x.shape[1]]))
    if x.ndim == 4:
        return x.mean(-1) if x.shape[-1] in (1, 3) and x.shape[1] > 4 else x.mean(1)
    return x if x.ndim == 3 and min(x.shape[1:]) > 1 else None


def _add_tokens(numbers: "Numbers", words: _vocabulary.Vocabulary, x: torch.Tensor, y: torch.Tensor | None) -> None:
    many = y is not None and y.shape[1] > 1 and not y.is_floating_point()
    numbers.kind, numbers.samples = "tokens", [_cut(words.text(ids)) for ids in x.tolist()]
    numbers.labels = [_label(label) for label in y] if y is not None and not many else []
    numbers.targets = [_cut(words.text(ids)) for ids in y.tolist()] if y is not None and many else []


def vocabulary(run: Run, batch: Batch, ids: torch.Tensor) -> _vocabulary.Vocabulary:
    return _vocabulary.find(variables(run), batch.module, ids)


def _cut(text: str) -> str:
    """Leave out the middle of a long text: its end shows the padding."""
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 40]} … {text[-37:]}"


def _label(values: torch.Tensor) -> str:
    text = ", ".join(f"{value:.3g}" if values.is_floating_point() else str(value) for value in values[:2].tolist())
    return text + ", …" * (len(values) > 2)


def _rounded(values: torch.Tensor) -> Any:
    def short(part: Any) -> Any:
        return [short(value) for value in part] if isinstance(part, list) else float(f"{part:.3g}")

    return short(values.tolist())


def in_order(run: Run, batch: Batch) -> tuple[list[float], list[list[float]]] | tuple[None, None]:
    """Return (steps, some labels of each kept batch), in the order of the steps; (None, None) without labels."""
    try:
        by_step = {each.step: each.targets for each in (*batches(run), batch)}
    except NotApplicable:
        return None, None
    targets = [(step, y) for step, y in sorted(by_step.items()) if y is not None]
    if not targets or model_of(run, batch) is not model_of(run, live(run).batches[0]):
        return None, None
    return [float(step) for step, _ in targets], [_some(y) for _, y in targets]


def _some(y: torch.Tensor) -> list[float]:
    flat = y.detach().cpu().flatten()
    flat = flat if flat.is_floating_point() else flat[flat >= 0]  # below zero: ignored targets
    places = torch.linspace(0, len(flat) - 1, min(LABELS, len(flat))).long()
    return [float(f"{label:.4g}") for label in flat[places].tolist()]
