"""`bugzoo checkup --html`: the report as one page that needs no network, in light or dark mode."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from bugzoo.contracts import contracts
from bugzoo.diagnostics.checkup import Report
from bugzoo.diagnostics.numbers import Number, of_instrument
from bugzoo.pages.text import fill
from bugzoo.proving.next_test import next_test
from bugzoo.syntax import source_lines

AROUND = 3
"""Lines shown before and after a suspect's own."""
ENDS = {"finished": "finished", "timed out": "was stopped at its time limit", "": "was not seen"}


def page(report: Report, tests: Mapping[str, Any]) -> str:
    """Return the whole page. `tests`: cause -> NextTest, from `next_tests`."""
    ended, lines, unchecked = report.run_outcome.replace("_", " "), _lines(report.file), {}
    for item in report.not_checked:
        unchecked.setdefault(item["why"], []).append(item["instrument"])
    places = [entry.line for entry in report.remaining]
    ran = report.run is not None and len(report.run.trace.step)
    return fill(
        "report.html.j2",
        report=report,
        tests=tests,
        name=Path(report.file).name,
        ended=ENDS.get(ended, f"ended as {ended}"),
        curves=_curves(report.run) if ran else "",
        loss=_loss(report.run) if ran else "",
        contracts=contracts(),
        excerpts={line: _excerpt(lines, line) for line in places if line and line <= len(lines)},
        readings=[
            (entry, next_test(entry.could_be[0], entry.could_be[1:]) if entry.could_be else None)
            for entry in report.readings
        ],
        findings=[entry for entry in report.findings if entry.silenced or not entry.effect],
        fired=[(v, _numbers(v), _picture(v.instrument, report.run)) for v in report.verdicts if v.fired],
        quiet=[verdict for verdict in report.verdicts if not verdict.fired],
        unchecked=unchecked,
    )


def _numbers(verdict: Any) -> list[tuple[Number, Any]]:
    """Return what an instrument measured, for each of its numbers that has a label."""
    numbers = of_instrument(verdict.instrument)
    return [(numbers[key], value) for key, value in verdict.numbers.items() if numbers[key].label]


def _excerpt(lines: Sequence[str], line: int) -> list[tuple[int, str]]:
    """Return the lines around line `line` with their numbers, from 1."""
    first = max(1, line - AROUND)
    return list(enumerate(map(str.rstrip, lines[first - 1 : line + AROUND]), first))


def _lines(file: str) -> list[str]:
    try:
        return source_lines(Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def _loss(run: Any) -> str:
    """Return the curve in words, for readers who cannot see it."""
    finite = [float(value) for value in run.trace.loss if abs(float(value)) < float("inf")]
    if not finite:
        return "No finite loss was recorded."
    return f"The loss starts at {finite[0]:.3g}, ends at {finite[-1]:.3g}, and its lowest value is {min(finite):.3g}."


def _curves(run: Any) -> str:
    """Return loss and gradient norm over the steps, side by side, as SVG."""
    from bugzoo.plots import THIS_RUN, absent, curve, loss_curve, prepare

    figure, (left, right) = _axes(2, (9.6, 3.0))
    loss_curve.draw(run, left)
    prepare(right, "Gradient norm", "step", "norm")
    if not curve(right, run.trace.step, run.trace.grad_norm, "", THIS_RUN):
        absent(right, "no finite gradient was recorded")
    return _svg(figure)


def _picture(name: str, run: Any) -> str:
    """Return the instrument's own picture; "" if it cannot draw this run."""
    from bugzoo.plots import draw

    if run is None:
        return ""
    figure, (ax,) = _axes(1, (7.2, 2.9))
    try:
        draw(name, run, ax)
    except Exception:  # a page without one picture is still useful
        return ""
    return _svg(figure)


def _axes(count: int, size: tuple[float, float]) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def _svg(figure: Any) -> str:
    """Return a figure as SVG for the page; text stays text, in the page's color."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    return Markup(text[text.index("<svg") :])
