"""What a view's picture shows, as lines of text: a row for each tensor, module or class, and a curve in a few points."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bugzoo.diagnostics.numbers import digits

WIDTH, LEAST = 79, 16
"""Columns of a table, and of the names in it."""
POINTS = 12
"""Points of a curve."""
SAMPLES = 4
"""Samples of a batch."""
GRID = 8
"""Rows and columns of a map."""


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns (the first one names the rows), and the rows."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def lines(self) -> list[str]:
        """Return the aligned text, at most WIDTH columns where the names can be cut; no line without a row."""
        if not self.rows:
            return []
        cells = [list(self.head), *([cell(entry) for entry in row] for row in self.rows)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.head))]
        gap = 2 if sum(widths) + 2 * len(widths) <= WIDTH else 1
        first = min(widths[0], max(LEAST, WIDTH - 2 - sum(gap + width for width in widths[1:])))
        lines = [f"{self.title}:"]
        for name, *rest in cells:
            short = name if len(name) <= first else f"…{name[1 - first :]}"  # the end of a name tells more
            aligned = "".join(" " * gap + entry.rjust(width) for entry, width in zip(rest, widths[1:], strict=True))
            lines.append(f"  {short:{first}}{aligned}".rstrip())
        return lines


def cell(value: Any) -> str:
    """Return one value as text, with three digits; a dash where nothing was measured."""
    if isinstance(value, float) and not value.is_integer():
        return "-" if math.isnan(value) else f"{value:.3g}"
    return digits(value)


def curve(values: Sequence[float], steps: Sequence[float] = ()) -> str:
    """Return a few values along a run, each after its step. Steps are counted from 1 unless they are given."""
    if not values:
        return "no step was made"
    last = len(values) - 1
    places = sorted({round(last * i / (POINTS - 1)) for i in range(POINTS)})
    return "  ".join(f"{digits(steps[at] if steps else at + 1)}: {short(values[at])}" for at in places)


def short(value: float) -> str:
    """Return a number with four digits."""
    return f"{value:.4g}"


def text(name: str, numbers: Mapping[str, Any]) -> list[str]:
    """Return the lines of a view's tables and curves; none if it has nothing to draw."""
    return [line for part in _PARTS.get(name, lambda _: [])(numbers) for line in _lines(part)]


def _lines(part: Table | str) -> list[str]:
    return part.lines() if isinstance(part, Table) else [part]


_Parts = list[Table | str]


def _columns(title: str, numbers: Mapping[str, Any], first: tuple[str, str], more: Mapping[str, str]) -> Table:
    """Return a table of lists of one length. `first` and `more`: key of the list -> name of its column."""
    key, head = first
    names = list(numbers.get(key, []))
    there = {name: text for name, text in more.items() if names and len(numbers.get(name, [])) == len(names)}
    columns = [numbers[name] for name in there]
    return Table(title, [head, *there.values()], list(zip(names, *columns, strict=True)) if columns else [])


def _curve(title: str, numbers: Mapping[str, Any], steps: str, values: str) -> _Parts:
    series = numbers.get(values, [])
    return [f"{title}, step: value", f"  {curve(series, numbers.get(steps, []))}"] if series else []


def _batch(numbers: Mapping[str, Any]) -> _Parts:
    samples, labels = numbers.get("samples", []), numbers.get("labels") or numbers.get("targets") or []
    parts: _Parts = []
    if numbers.get("kind") == "images":
        parts = ["labels of the first samples:", f"  {'  '.join(map(str, labels))}"] if labels else []
        parts += _image(samples[0]) if samples else []
    elif samples:
        lines = [entry if isinstance(entry, str) else "  ".join(map(cell, entry)) for entry in samples[:SAMPLES]]
        parts = ["first samples, and the label of each:"]
        for place, entry in enumerate(lines):
            parts += [f"  {entry}", *([f"    label: {labels[place]}"] if place < len(labels) else [])]
    steps, order = numbers.get("order_steps", []), numbers.get("order_labels", [])
    if order:
        parts.append("labels in each kept batch, in the order of the samples:")
        for step, entry in zip(steps, order, strict=True):
            parts.append(f"  step {cell(step)}: {' '.join(map(cell, entry[:16]))}")
    return parts


def _image(rows: Sequence[Sequence[float]]) -> _Parts:
    """Return the first image with a shade for each of its pixels, from its smallest to its largest value."""
    values = [entry for row in rows for entry in row if math.isfinite(entry)]
    if not values:
        return []
    low, span = min(values), (max(values) - min(values)) or 1.0
    shades = " .:-=+*#%@"
    lines = [
        "".join(2 * shades[int(9 * (entry - low) / span)] if math.isfinite(entry) else "??" for entry in row)
        for row in rows
    ]
    return ["first sample, from its smallest value (blank) to its largest (@):", *(f"  |{entry}|" for entry in lines)]


def _outputs(numbers: Mapping[str, Any]) -> _Parts:
    of = numbers.get("of", "class")
    targets = numbers.get("targets", [])
    more = {"given": "first step", "trained": "after training", "gradient": "gradient", "values": "target"}
    table = _columns("what the loss is given, and its gradient", numbers, ("x", of), more)
    parts: _Parts = [table]
    if targets:
        parts.append(f"{'samples with target 1' if of == 'sample' else 'target'}: {' '.join(map(cell, targets))}")
    return parts


def _evaluation(numbers: Mapping[str, Any]) -> _Parts:
    shares = {"train_shares": "share of training batches", "validation_shares": "share of validation"}
    if numbers.get("classes"):
        return [_columns("labels", numbers, ("classes", "label"), {"recalls": "recall", **shares})]
    from_edge = {**numbers, "edges": numbers.get("edges", [])[:-1]}
    return [_columns("targets", from_edge, ("edges", "from"), shares)]


def _gradients(numbers: Mapping[str, Any]) -> _Parts:
    moments = dict(zip(numbers.get("moments", []), numbers.get("norms", []), strict=True))
    columns = {**numbers, **moments}
    more = {moment: moment for moment in moments} or {"typical": "median over the steps"}
    return [_columns("gradient norm of each tensor", columns, ("names", "tensor"), more)]


def _updates(numbers: Mapping[str, Any]) -> _Parts:
    more = {"one": "one step", "whole": "whole run"}
    table = _columns("change of each tensor over its size", numbers, ("names", "tensor"), more)
    return [*_curve("change in a step over the size, all parameters", numbers, "at", "ratio"), table]


def _learning_rate(numbers: Mapping[str, Any]) -> _Parts:
    groups = numbers.get("groups", [])
    parts = _curve("learning rate", numbers, "x", "rates") + _curve("plan", numbers, "plan_x", "plan")
    several = [f"learning rates of the parameter groups at the end: {'  '.join(map(short, groups))}"]
    return parts + (several if len(groups) > 1 else [])


def _weights(numbers: Mapping[str, Any]) -> _Parts:
    words, keys = {1.0: "yes", 0.0: "no"}, ("trainable", "optimizer", "gradient", "moved", "late")
    marks = {key: [words.get(mark, mark) for mark in numbers.get(key, [])] for key in keys}
    more = {**{mark: mark for mark in marks}, "start": "start", "end": "end"}
    title = "each tensor, and its norm at the first and the last measured step"
    return [_columns(title, {**numbers, **marks}, ("names", "tensor"), more)]


def _modes(numbers: Mapping[str, Any]) -> _Parts:
    spans = [f"{mode} mode, steps {cell(first)} to {cell(last)}" for first, last, mode in numbers.get("spans", [])]
    table = _columns("forward passes", numbers, ("bars", "kind"), {"passes": "passes"})
    return [table, *([f"passes with gradients: {'; '.join(spans[:POINTS])}"] if spans else [])]


def _layers(numbers: Mapping[str, Any]) -> _Parts:
    shapes = ["x".join(map(cell, shape)) or "-" for shape in numbers.get("shapes", [])]
    more = {"shapes": "shape", "first": "std, first", "std": "std, after"}
    more |= {"zeros": "share 0", "bounds": "at bounds", "not_finite": "not finite"}
    return [_columns("output of each module", {**numbers, "shapes": shapes}, ("names", "module"), more)]


def _influence(numbers: Mapping[str, Any]) -> _Parts:
    grid, of = numbers.get("map") or [], numbers.get("of", "sample")
    rows = [[str(place), *row[:GRID]] for place, row in enumerate(grid[:GRID])]
    head = [f"output of {of}", *(str(place) for place in range(len(rows[0]) - 1 if rows else 0))]
    parts: _Parts = [Table(f"relative change of an output (rows) when a {of} changes (columns)", head, rows)]
    if strip := numbers.get("strip"):
        parts += ["change of one output, by the position that changed:", f"  {curve(strip, range(len(strip)))}"]
    return parts


def _ranks(numbers: Mapping[str, Any]) -> _Parts:
    curves = zip(numbers.get("at", []), numbers.get("losses", []), strict=True)
    parts: _Parts = []
    for rank, (steps, losses) in enumerate(curves):
        parts += _curve(f"loss of rank {rank}", {"x": steps, "y": losses}, "x", "y")
    return parts + _curve("distance of the ranks' parameters", numbers, "norm_steps", "parameter_spreads")


_PARTS: dict[str, Callable[[Mapping[str, Any]], _Parts]] = {
    "batch": _batch,
    "loss_curve": lambda numbers: _curve("loss", numbers, "x", "losses"),
    "outputs": _outputs,
    "evaluation": _evaluation,
    "gradients": _gradients,
    "updates": _updates,
    "learning_rate": _learning_rate,
    "weights": _weights,
    "modes": _modes,
    "layers": _layers,
    "influence": _influence,
    "memory": lambda numbers: _curve("memory (MiB)", numbers, "at", "memory"),
    "ranks": _ranks,
}
