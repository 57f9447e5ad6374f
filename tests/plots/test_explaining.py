"""The figures that explain in lessons: what they measure is so, and they can be read on a light and on a dark page."""

import math
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from matplotlib.colors import to_rgb
from torch import nn

from bugzoo.plots import (
    attention_map,
    checklist,
    directions,
    edge,
    exponents,
    footprint,
    kept_gradient,
    one_batch,
    pairs,
    parting,
    pull,
    rulers,
    slope,
)
from bugzoo.plots._style import RED, SKY


def test_the_footprint_is_where_the_numbers_are_lost() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Conv1d(2, 2, 3))
    with torch.no_grad():
        model[0].weight[1] = math.nan
        model[2].weight[0, 1, 2] = math.inf
    found = footprint.measure(model)
    assert list(found) == ["0", "2"], "biases have no two axes"
    assert found["0"].mean(axis=1).tolist() == [0, 1, 0, 0] and found["2"].shape == (2, 6) and found["2"].sum() == 1
    figure = footprint.picture(model)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["0: 25.0% is not finite", "2: 8.3% is not finite"]
    assert "unit 1" in [text.get_text() for text in figure.axes[0].texts]


def test_lost_and_found_differ_without_colour_vision() -> None:
    def light(colour: str) -> float:
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    assert (light(SKY) + 0.05) / (light(RED) + 0.05) > 1.5, "also in grey"


def test_a_slope_is_autograd_s_own() -> None:
    values, slopes = slope.measure(torch.log, np.array([0.0, 0.5, 2.0]))
    assert values[0] == -math.inf and slopes.tolist() == [math.inf, 2.0, 0.5]
    values, slopes = slope.measure(lambda x: torch.log(x).relu(), np.array([0.0, 0.5]))
    assert values.tolist() == [0, 0] and math.isnan(slopes[0]) and slopes[1] == 0
    figure = slope.picture({"log(x)": torch.log, "sqrt(x)": torch.sqrt})
    shown = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert shown == ["log(x)  (at 0: inf)", "sqrt(x)  (at 0: inf)"]
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_a_loss_of_probabilities_lets_go_of_sure_mistakes() -> None:
    lead = np.array([-8.0, 0.0, 8.0])
    values, pulls = pull.measure(F.cross_entropy, lead, 5)
    assert np.allclose(values, np.log1p(np.exp(-lead)), atol=1e-3)
    assert pulls[0] > pulls[1] > pulls[2] and abs(pulls[0] - math.sqrt(2)) < 0.01
    values, pulls = pull.measure(lambda z, y: F.cross_entropy(z.softmax(-1), y), lead, 5)
    assert abs(values[2] - math.log(math.e + 4) + 1) < 1e-3 and pulls[1] > 100 * max(pulls[0], pulls[2])
    figure = pull.picture({"one": F.cross_entropy, "other": F.cross_entropy}, classes=5)
    styles = [line.get_linestyle() for line in figure.axes[1].lines[:2]]
    assert styles == ["-", "--"] and figure.patch.get_alpha() == 0


def test_a_gradient_that_is_kept_beside_one_that_is_cleared() -> None:
    def trace(growth: float) -> SimpleNamespace:
        step = np.arange(1, 6)
        return SimpleNamespace(step=step, grad_norm=2.0 * step**growth, update_ratio=[0.1, 0.1, np.nan, 0.1, 0.1])

    found = kept_gradient.measure(trace(1.0))
    assert found["length"].tolist() == [2, 4, 6, 8, 10] and np.isnan(found["move"][2])
    figure = kept_gradient.picture({"SGD": (trace(0.0), trace(1.0)), "Adam": (trace(0.0), trace(1.0))})
    upper, _, lower, _ = figure.axes
    shown = [text.get_text() for text in upper.get_legend().get_texts()]
    assert shown == ["never cleared", "cleared", "step × one batch's"]
    assert [line.get_linestyle() for line in upper.lines] == ["-", "--", ":"], "told apart without colour"
    assert upper.lines[2].get_ydata().tolist() == [2, 4, 6, 8, 10] and len(lower.lines) == 2
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_the_edge_of_each_rate_stands_beside_its_run() -> None:
    figure = edge.picture(
        {0.1: ([1.0, 0.5, 0.6], [(0, 18.0), (2, 20.5)]), 0.05: ([1.0, 0.8, 0.7], [(0, 18.0), (2, 19.0)])}
    )
    left, right = figure.axes
    assert [line.get_ydata().tolist() for line in left.lines] == [[1.0, 0.5, 0.6], [1.0, 0.8, 0.7]]
    assert [line.get_ydata()[0] for line in right.lines] == [18.0, 20.0, 18.0, 40.0]
    assert len({line.get_linestyle() for line in left.lines}) == 2 and figure.patch.get_alpha() == 0


def test_rulers_are_told_apart_without_colour() -> None:
    figure = rulers.picture({"as logged": [0.2, 0.5, 0.8], "validation": [0.6, 0.8, 0.9]})
    (ax,) = figure.axes
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.2, 0.5, 0.8], [0.6, 0.8, 0.9]]
    assert len({(line.get_linestyle(), line.get_marker()) for line in ax.lines}) == 2
    assert ax.get_xticks().tolist() == [1, 2, 3] and figure.patch.get_alpha() == 0, "the page shows through"


def test_numbers_are_laid_on_what_float16_holds() -> None:
    figure = exponents.picture({"as it is": [2.0**-30, 2.0**-29, 0.0], "scaled": [2.0**-14, 2.0**-13, float("inf")]})
    (ax,) = figure.axes
    first, second = ax.lines[:2]
    assert [line.get_xdata().tolist() for line in (first, second)] == [[-30, -29], [-14, -13]], "0 and inf are left out"
    assert (first.get_linestyle(), first.get_marker()) != (second.get_linestyle(), second.get_marker())
    assert [line.get_xdata()[0] for line in ax.lines[2:]] == [-25, -14, 16] and figure.patch.get_alpha() == 0


def test_a_floor_is_drawn_where_one_is_known() -> None:
    figure = one_batch.picture({"A": [2.0, 0.6, 0.5], "B": [2.0, 0.1, 1e-9]}, {"A": 0.5})
    first, second = figure.axes
    assert [ax.get_title() for ax in figure.axes] == ["A", "B"] and len(first.lines) == 2 and len(second.lines) == 1
    assert first.lines[1].get_ydata() == [0.5, 0.5] and first.lines[1].get_linestyle() == "--", (
        "told apart without colour"
    )
    assert min(second.lines[0].get_ydata()) == one_batch.LEAST, "a loss of nothing has a place on a logarithmic axis"
    assert first.get_ylim() == second.get_ylim() and figure.patch.get_alpha() == 0, "the page shows through"


def test_attention_is_measured_beyond_the_border() -> None:
    weights = np.array([[0.25, 0.75, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    allowed = np.tril(np.ones((3, 3))) > 0
    assert math.isclose(attention_map.measure(weights, allowed), 0.25)
    assert attention_map.measure(weights, np.ones((3, 3))) == 0
    assert len(attention_map.border(allowed)) == 4, "two sides and two floors of the stairs"
    figure = attention_map.picture({"one": weights, "two": np.eye(3)}, torch.ones(3, 3).tril())
    first, second, bar = figure.axes
    assert bar.get_ylabel() == "attention weight"
    other = attention_map.picture({"one": weights}, allowed, "share of the slope")
    assert other.axes[-1].get_ylabel() == "share of the slope"
    assert first.get_title() == "one\n25% of the weight is where nothing may be seen"
    assert second.get_title() == "two\n0% of the weight is where nothing may be seen"
    assert [patch.get_hatch() for patch in first.patches] == ["///"] * 3, "told apart without colour"
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_directions_are_counted_by_their_variance() -> None:
    flat = np.outer(np.arange(6.0), [1.0, 2.0, -1.0])
    assert np.allclose(directions.measure(flat + 5), 1) and directions.needed(directions.measure(flat)) == 1
    shares = directions.measure(np.concatenate([np.eye(4), -np.eye(4)]))
    assert np.allclose(shares, [0.25, 0.5, 0.75, 1]) and directions.needed(shares) == 4
    figure = directions.picture({"one": flat, "four": torch.eye(4)})
    (ax,) = figure.axes
    assert [text.get_text()[:18] for text in ax.get_legend().get_texts()] == [
        "one: 1 directions ",
        "four: 3 directions",
    ]
    assert len({(line.get_linestyle(), line.get_marker()) for line in ax.lines}) == 3
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_equal_losses_leave_a_gap_and_others_their_difference() -> None:
    gap = parting.measure([1.0, 2.0, 4.0, 9.0], [1.0, 2.0, 2.0])
    assert np.isnan(gap[:2]).all() and gap[2:].tolist() == [1.0]
    assert np.isnan(parting.smooth(gap)[1]) and parting.smooth(gap)[2] == 1
    figure = parting.picture({"one": ([1.0, 2.0], [1.0, 2.5]), "two": ([1.0, 2.0], [1.1, 2.0])})
    (ax,) = figure.axes
    assert ax.get_yscale() == "log" and figure.patch.get_alpha() == 0, "the page shows through"
    assert len({(line.get_linestyle(), line.get_marker()) for line in ax.lines[:2]}) == 2, "told apart without colour"


def test_what_a_checklist_leaves_is_told_apart_without_colour() -> None:
    families = {"loop": (1, 0, 4), "shape": (0, 3, 5), "graph": (4, 2, 8)}
    assert checklist.ordered(families) == ["graph", "loop", "shape"], "the largest share first"
    figure = checklist.picture(families)
    (ax,) = figure.axes
    caught, stops, rest = ax.containers
    widths = [[bar.get_width() for bar in kind] for kind in (caught, stops, rest)]
    assert widths == [[4, 1, 0], [2, 0, 3], [2, 3, 2]]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["graph", "loop", "shape"]
    assert [bar.get_x() for bar in rest] == [6, 1, 3], "it begins where the others end"
    filled = [bool(kind[0].get_facecolor()[3]) for kind in (caught, stops, rest)]
    assert filled == [True, False, False] and stops[0].get_hatch() and not rest[0].get_hatch()
    assert figure.patch.get_alpha() == 0, "the page shows through"


def test_pairs_are_lines_and_the_first_are_ringed() -> None:
    figure = pairs.picture([0.1, 0.5, 0.3], [0.4, 0.2, 0.3], (-0.1, 0.2), 0.25, first=1)
    left, right = figure.axes
    assert [list(line.get_ydata()) for line in left.lines] == [[0.1, 0.4], [0.5, 0.2], [0.3, 0.3]]
    assert [line.get_linestyle() for line in left.lines] == ["-", "--", "--"], "told apart without colour"
    (ring,) = (line for line in right.lines if line.get_markerfacecolor() == "none")
    assert abs(ring.get_ydata()[0] - 0.3) < 1e-9 and ring.get_xdata()[0] == 2, "it gained most"
    assert figure.patch.get_alpha() == 0, "the page shows through"
