"""The figures that explain in lessons: what they measure is so, and they can be read on a light and on a dark page."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from bugzoo.plots import endings, evaluation_spread, footprint, loss_by_logit, slope
from tests.plots.checks import light


def test_the_footprint_is_where_the_numbers_are_lost() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Conv1d(2, 2, 3))
    with torch.no_grad():
        model[0].weight[1] = math.nan
        model[2].weight[0, 1, 2] = math.inf
    shares = footprint.measure(model)
    assert list(shares) == ["0", "2"], "biases have no two axes"
    assert shares["0"].mean(axis=1).tolist() == [0, 1, 0, 0] and shares["2"].shape == (2, 6) and shares["2"].sum() == 1
    figure = footprint.picture(model)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["0:\n25.0% is not finite", "2:\n8.3% is not finite"]
    assert "unit 1" in [text.get_text() for text in figure.axes[0].texts]


def test_lost_and_found_differ_without_color_vision() -> None:
    finite, lost = footprint.COLORS
    assert (light(finite) + 0.05) / (light(lost) + 0.05) > 1.2, "also in gray"


def test_a_slope_is_autograd_s_own() -> None:
    values, slopes = slope.measure(torch.log, np.array([0.0, 0.5, 2.0]))
    assert values[0] == -math.inf and slopes.tolist() == [math.inf, 2.0, 0.5]
    values, slopes = slope.measure(lambda x: torch.log(x).relu(), np.array([0.0, 0.5]))
    assert values.tolist() == [0, 0] and math.isnan(slopes[0]) and slopes[1] == 0
    figure = slope.picture({"log(x)": torch.log, "sqrt(x)": torch.sqrt})
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["log(x)  (at 0: inf)", "sqrt(x)  (at 0: inf)"]
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_endings_show_the_last_finite_losses_on_axes_of_one_ratio() -> None:
    cliff, climb = [2.0, 1.5, 1.4, math.nan, 1.0], [1.0, 10.0, 1e3, 1e6, math.inf, math.nan]
    steps, losses = endings.measure(cliff)
    assert (steps.tolist(), losses.tolist()) == ([1, 2, 3], [2.0, 1.5, 1.4]), (
        "what comes after the first nan is left out"
    )
    steps, losses = endings.measure(list(range(1, 41)))
    assert steps.tolist() == losses.tolist() == list(range(29, 41)), "a run without a nan: its last steps"
    figure = endings.picture({"cliff": cliff, "climb": climb})
    ratios = [ax.get_ylim()[1] / ax.get_ylim()[0] for ax in figure.axes]
    assert ratios[0] == pytest.approx(ratios[1]) and ratios[0] > 1e6, "a flat line stays flat beside a climb"
    assert [ax.get_title() for ax in figure.axes] == ["cliff", "climb"] and figure.patch.get_alpha() == 0


def test_evaluations_that_vary_look_other_than_one_number() -> None:
    ways = {"eval mode, no_grad": [0.9, 0.9, 0.9], "train mode, no_grad": [0.8, 0.85, 0.9]}
    figure = evaluation_spread.picture(ways, {"eval mode, no_grad": 0, "train mode, no_grad": 550_000})
    above, below = figure.axes
    assert [line.get_marker() for line in above.lines] == ["s", "o"], "they differ without color vision"
    assert above.lines[1].get_ydata().tolist() == [0.8, 0.85, 0.9]
    assert [text.get_text() for text in above.texts] == ["0.900 each time", "0.800 to 0.900"]
    assert [bar.get_height() for bar in below.patches] == [0, 0.55]
    assert [text.get_text() for text in below.texts] == ["0", "0.55"]
    assert [text.get_text() for text in below.get_xticklabels()] == ["eval mode\nno_grad", "train mode\nno_grad"]
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_evaluations_without_bytes_have_no_bars() -> None:
    figure = evaluation_spread.picture({"one": [0.5], "two": [0.5, 0.6]})
    [ax] = figure.axes
    assert [text.get_text() for text in ax.get_xticklabels()] == ["one", "two"]
    with pytest.raises(KeyError, match="two"):
        evaluation_spread.picture({"one": [0.5], "two": [0.6]}, {"one": 1.0})


def test_a_floor_is_the_lowest_loss_and_a_squeezed_loss_has_no_slope_at_the_left() -> None:
    losses = {
        "cross-entropy": lambda x: nn.functional.softplus(-x),
        "sigmoid twice, a yes": lambda x: nn.functional.softplus(-x.sigmoid()),
        "sigmoid twice, a no": lambda x: nn.functional.softplus((-x).sigmoid()),
    }
    figure = loss_by_logit.picture(losses, end=12, mark=-6)
    upper, lower = figure.axes
    labels = [text.get_text() for text in upper.texts]
    assert labels == ["floor 0.000", f"floor {math.log(math.e + 1) - 1:.3f}", f"floor {math.log(2):.3f}"]
    slopes = {line.get_label(): line.get_ydata() for line in lower.get_lines() if line.get_label() in losses}
    left = {name: float(values[0]) for name, values in slopes.items()}
    assert left["cross-entropy"] > 0.99 and max(left["sigmoid twice, a yes"], left["sigmoid twice, a no"]) < 1e-4
    assert len({line.get_linestyle() for line in upper.get_lines()[::2]}) == 3, "told apart without color"
    assert figure.patch.get_alpha() == 0, "the page shows through"
