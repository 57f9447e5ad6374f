"""A finished run and its twin as a text table and as a picture that stays in a saved notebook."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bugzoo.lab.engine import Point
from bugzoo.lab.healthy_twin import Curve
from bugzoo.printable import printable

OUTCOMES = {
    "finished": "finished",
    "crashed": "crashed",
    "stopped": "stopped",
    "out_of_memory": "ran out of memory",
    "timed_out": "took too long",
    "hung": "hung",
}


def first_bad(points: Sequence[Point]) -> tuple[int, str] | None:
    """Return the first step with a non-finite loss or gradient, and which of them it was.

    A gradient norm that is nan from the first step on was not measured: the optimizer got no gradient.
    """
    measured = False
    for step, loss, norm in points:
        if not math.isfinite(loss):
            return step, f"the loss is {loss:g}"
        if not math.isfinite(norm) and (measured or math.isinf(norm)):
            return step, f"the gradient is {norm:g}, the loss still {loss:.2f}"
        measured = measured or math.isfinite(norm)
    return None


def ending(outcome: str, steps: int, explain: bool = True) -> str:
    """Return how a run ended, in words; without `explain` only that, as its last loss is shown beside it."""
    if outcome == "non_finite" and not explain:
        return f"finished after {steps} steps"
    if outcome == "non_finite":
        return f"finished after {steps} steps, but its loss is not finite"
    return f"{OUTCOMES.get(outcome, outcome)} after {steps} steps"


def in_place_of_a_curve(points: Sequence[Point], run: Any) -> str:
    """Return the traceback of a run that ended with an error before it had a curve: two steps. "" for any other run."""
    error = run.trace.error if run is not None and len(points) < 2 else {}
    return printable(error.get("traceback") or "")


def text_table(
    points: Sequence[Point],
    run: Any,
    twin_points: Sequence[Point] = (),
    twin: Any = None,
    rows: int = 10,
    explain: bool = True,
    places: tuple[str, str] = ("", ""),
) -> str:
    """Return some steps of both runs and the metrics; with `explain` also the steps around the first non-finite one.

    `places`: what is added to the names of the two runs.
    """
    bad = first_bad(points) if explain else None
    sampled = {round(1 + i * (len(points) - 1) / max(1, rows - 1)) for i in range(rows)} if points else set()
    if bad:
        sampled |= {bad[0] - 1, bad[0], bad[0] + 1}
    healthy = {step: (loss, norm) for step, loss, norm in twin_points}
    head = f"{'step':>6}  {'loss':>9}  {'grad norm':>9}"
    lines = [head + (f"   {'healthy':>9}  {'grad norm':>9}" if healthy else "")]
    for step, loss, norm in points:
        if step in sampled:
            line = f"{step:>6}  {loss:>9.4g}  {norm:>9.4g}"
            if step in healthy:
                line += f"   {healthy[step][0]:>9.4g}  {healthy[step][1]:>9.4g}"
            if bad and step == bad[0]:
                line += "   <- first non-finite"
            lines.append(line)
    for label, training in ((f"this run{places[0]}", run), (f"healthy{places[1]}", twin)):
        if training is not None:
            outcome, steps, metrics = _end(training)
            numbers = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
            lines.append(f"{label}: {ending(outcome, steps, explain)}" + (f"; validation {numbers}" if numbers else ""))
    return "\n".join(lines)


def _end(run: Any) -> tuple[str, int, Any]:
    """Return (outcome, steps, metrics) of a Run, or of a recorded curve."""
    if isinstance(run, Curve):
        return "finished", len(run.steps), run.metrics
    return run.outcome, len(run.trace.step), run.trace.metrics


def picture(
    points: Sequence[Point],
    run: Any,
    twin_points: Sequence[Point] = (),
    title: str = "",
    explain: bool = True,
    names: tuple[str, str] = ("this run", "healthy"),
    marks: Sequence[tuple[int, str]] = (),
    twin: Any = None,
    reference: Mapping[str, float] | None = None,
) -> bytes:
    """Return a transparent PNG that stays in the file and is readable on light and dark pages. `marks`: (step, text).

    `run` and `twin` bring their validation losses. `reference`: name -> loss to compare with.
    """
    from bugzoo.plots import DPI, comparison

    numbers: dict[str, Any] = {"broken": _curves(points, run), "healthy": _curves(twin_points, twin)}
    numbers |= {"marks": marks, "reference": reference}
    bad = first_bad(points) if explain else None
    if bad:
        event = run.trace.first_non_finite() if run is not None else None
        numbers["first_non_finite"] = (event.data if event else {}) | {"step": event.step if event else bad[0]}
    buffer = io.BytesIO()
    comparison.picture(numbers, title, names).savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()


def _curves(points: Sequence[Point], run: Any) -> dict[str, Any] | None:
    if not points:
        return None
    curves = {"losses": [point[1] for point in points], "grad_norms": [point[2] for point in points]}
    return curves | {"validation": validation(run)}


def validation(run: Any) -> list[list[tuple[int, float]]]:
    """Return the (steps done, loss) of each place at which a finished run evaluated; of a recorded curve, its end."""
    if run is None:
        return []
    if isinstance(run, Curve):
        end = run.metrics.get("loss")
        return [[(len(run.steps), float(end))]] if end is not None and run.steps else []
    return [curve.points for curve in run.trace.validation]


def last_number(points: Sequence[Point], ended: bool = False) -> str:
    """Return `step 120 · loss 0.84 · gradient norm 1.2`; without the step if the run has `ended`."""
    if not points:
        return "no step yet"
    step, loss, norm = points[-1]
    digits = f"{loss:.4g}" if math.isfinite(loss) else f"{loss}"
    measured = any(math.isfinite(gradient) for _, _, gradient in points) or math.isinf(norm)
    numbers = f"loss {digits} · gradient norm {f'{norm:.3g}' if measured else 'not measured'}"
    return f"last {numbers}" if ended else f"step {step} · {numbers}"
