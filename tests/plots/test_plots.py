import io
import math

import matplotlib
import matplotlib.image
import numpy as np
import pytest

matplotlib.use("Agg")

from bugzoo import diagnostics, plots
from bugzoo.diagnostics import instrument
from bugzoo.lab import chart, summary
from bugzoo.plots import _smoothing, comparison
from bugzoo.running import Reading, Run
from bugzoo.watching.records import Event, Graph
from bugzoo.watching.trace import Trace


@pytest.fixture
def ax():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def some_run():
    steps = np.arange(1.0, 41)
    trace = Trace(
        step=steps, loss=np.exp(-steps / 10), grad_norm=1 / steps, leftover=np.zeros(40), memory_mib=steps * 0 + 100,
        scale=np.full(40, 2.0**16), graph=Graph(classes=10),
        events=[Event(7, "skipped_step"), Event(30, "non_finite", {"direction": "loss"})],
    )  # fmt: skip
    return Run(trace, ranks=[Run(trace), Run(trace)])


def test_an_instrument_without_a_file_here_gets_bars_of_what_its_judge_shows(ax):
    names = set(plots.names())
    assert names < set(diagnostics.names()) and "mode_watch" not in names
    numbers = {"eval_in_train_mode": 7.0, "evaluations": 9.0, "train_in_eval_mode": 0.0, "train_in_eval_share": 0.0,
               "drops_in_eval": 0.0, "kinds": ["dropout"]}  # fmt: skip
    plots.draw("mode_watch", numbers, ax)
    texts = [text.get_text().strip() for text in ax.texts]
    assert texts == ["9", "7", "0", "0", "0"]
    assert [label.get_text() for label in ax.get_yticklabels()][:2] == ["evaluations", "eval in train mode"]
    assert ax.get_title() == diagnostics.question("mode_watch")


@pytest.mark.parametrize("name", diagnostics.names())
def test_a_plot_is_quiet_where_there_is_nothing_to_draw(name, ax):
    plots.draw(name, Reading(why_not="no"), ax)
    assert len(ax.texts) == 1 and not ax.lines


@pytest.mark.parametrize("name", diagnostics.names())
def test_a_plot_takes_a_run_without_numbers(name, ax):
    plots.draw(name, some_run(), ax)


@pytest.mark.parametrize(
    "name", ["loss_curve", "gradient_health", "fresh_gradient", "memory_audit", "loss_scale", "first_non_finite"]
)
def test_curves_are_drawn_and_not_on_an_opaque_ground(name, ax):
    plots.draw(name, some_run(), ax)
    assert ax.lines
    assert ax.get_facecolor()[3] == 0 and ax.figure.patch.get_alpha() == 0


def test_two_curves_differ_in_more_than_colour(ax):
    from bugzoo.plots import loss_curve

    loss_curve.draw(some_run(), ax, twin=some_run())
    styles = [line.get_linestyle() for line in ax.lines[:2]]
    assert len(set(styles)) == 2


def test_bars_carry_their_numbers(ax):
    plots.draw("loss_scale", {"underflow_share": 0.25, "overflow_share": 0.0, "skipped_share": 0.0}, ax)
    assert any("0.25" in text.get_text() for text in ax.texts)


def test_one_batch_is_drawn_over_its_repetitions(ax):
    numbers = instrument("overfit_one_batch").of_losses(np.geomspace(2.0, 0.1, 100))
    plots.draw("overfit_one_batch", numbers.measured(), ax)
    curve, half = ax.lines
    assert (curve.get_xdata()[0], curve.get_xdata()[-1]) == (1, 100) and curve.get_ydata()[-1] == pytest.approx(0.1)
    assert list(half.get_ydata()) == [1.0, 1.0]


def test_what_stays_in_a_notebook_has_no_page_of_its_own():
    points = [(1, 2.0, 1.0), (2, 1.5, 0.9)]
    image = matplotlib.image.imread(io.BytesIO(summary.picture(points, None, points, "Z-1")))
    assert image[0, 0, 3] == 0, "no sheet of its own"


def test_layers_are_points_on_an_axis_that_makes_little_of_little(ax):
    numbers = {"names": ["one.weight", "two.weight"], "norms": [0.15, 0.36], "total_norm": 0.42}
    plots.draw("gradient_health", numbers, ax)
    low, high = ax.get_ylim()
    assert not ax.patches and high / low >= 30, "bars on a logarithmic axis begin wherever it does"
    assert {text.get_text() for text in ax.texts} == {"one layer", "all layers together"}
    ax.figure.canvas.draw()
    ticks = [*ax.yaxis.get_major_ticks(), *ax.yaxis.get_minor_ticks()]
    assert {tick.label1.get_color() for tick in ticks} == {plots.INK}, "black is not read on a dark page"


def test_what_is_looked_at_has_the_color_that_it_has_in_the_live_plot(ax):
    plots.draw("loss_curve", some_run(), ax)
    assert ax.lines[0].get_color() == chart.RUNS["broken"][1] == plots.THIS_RUN


def test_the_loss_of_guessing_is_drawn_where_it_is_in_reach(ax):
    def lines(scale: float) -> int:
        run, before = some_run(), len(ax.lines)
        run.trace.loss = run.trace.loss * scale
        plots.draw("loss_curve", run, ax)
        return len(ax.lines) - before

    assert lines(1.0) == lines(0.001) + 1


def test_a_mean_ends_where_its_curve_ends_and_is_the_same_for_both_runs():
    assert [_smoothing.window(steps) for steps in (1, 71, 72, 216, 10_000)] == [1, 1, 3, 9, 25]
    noisy = np.random.default_rng(0).random(100)
    assert np.array_equal(_smoothing.smoothed(noisy, 9)[:50], _smoothing.smoothed(noisy[:50], 9)), "equal so far"
    assert np.allclose(_smoothing.smoothed(noisy, 9)[60], noisy[52:61].mean())
    raw = [1.0, 2.0, 3.0, math.nan, math.inf, 10.0, 11.0]
    assert np.array_equal(_smoothing.smoothed(raw, 3), [1, 1.5, 2, math.nan, math.nan, 10, 10.5], equal_nan=True)
    assert np.array_equal(_smoothing.smoothed(raw, 1), [1, 2, 3, math.nan, math.nan, 10, 11], equal_nan=True)
    assert _smoothing.smoothed([], 9).tolist() == []
    assert _smoothing.smoothed([1.0, 3.0], 9).tolist() == [1, 2], "fewer steps than one mean has"


@pytest.mark.parametrize("width", [2, 3, 9, _smoothing.WIDEST])
@pytest.mark.parametrize("spike", [1e20, -1e20, 3e38])
def test_a_spike_is_gone_from_the_mean_once_it_is_out_of_the_window(width: int, spike: float):
    raw = np.full(100, 0.5)
    raw[30], raw[70] = spike, math.nan
    mean = _smoothing.smoothed(raw, width)
    inside = slice(30, 30 + width)
    assert np.allclose(mean[inside], spike / np.minimum(width, np.arange(31, 31 + width)))
    raw[inside] = mean[inside]
    assert np.array_equal(mean, raw, equal_nan=True), "0.5 before it and after it, to the last bit"


def test_a_broken_run_is_shaded_where_it_has_no_loss_and_marked_where_something_came_in():
    steps = range(1, 241)
    run = {"losses": [1.0 if step < 50 else math.nan for step in steps], "grad_norms": [1.0 for _ in steps]}
    twin = {"losses": [1.0 + step % 2 for step in steps], "grad_norms": [1.0 for _ in steps]}
    numbers = {
        "broken": run,
        "healthy": twin,
        "first_non_finite": {"step": 50, "op": "log"},
        "marks": [(30, "repaired")],
        "reference": {"ln 10": 2.3},
    }
    upper, lower = comparison.picture(numbers).axes
    (band,) = [patch for patch in upper.patches if patch.get_width() > 1]
    assert (band.get_x(), band.get_x() + band.get_width()) == (49.5, 240.5)
    assert [text.get_text() for text in upper.texts] == [
        "step 30: repaired", "step 50: first non-finite number\nlog", "  no finite loss", "healthy", "broken", "ln 10",
    ]  # fmt: skip
    assert lower.get_xlabel() == "optimizer step (bold: mean of the last 10 steps)"
    named = [line for line in upper.lines if line.get_label() in ("healthy", "broken")]
    assert len({line.get_linewidth() for line in named}) == 1, "the twin is no thicker than the run"
    assert not lower.patches
