"""The figure of attention weights: color in the hatched part is a leak, and the bars are the sums of the rows."""

import numpy as np
import pytest

from bugzoo.plots import INK, attention_maps

VISIBLE = np.tril(np.ones((4, 4))) > 0
RIGHT = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
AHEAD = np.array([[0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0], [0, 0, 0, 1], [0.25, 0.25, 0.25, 0.25]])
AFTER = AHEAD * VISIBLE


def test_a_leak_and_a_missing_weight_are_measured():
    assert attention_maps.measure(RIGHT, VISIBLE) == (0, 1)
    assert attention_maps.measure(AHEAD, VISIBLE) == (1, 1), "weight on the next place, and nothing is missing"
    assert attention_maps.measure(AFTER, VISIBLE) == (0, 0), "no weight on the next place, and row 2 has lost all of it"


def test_each_map_has_its_bars_and_its_hatched_places():
    figure = attention_maps.picture({"right": RIGHT, "after the softmax": AFTER}, VISIBLE)
    first, bars, second, others = figure.axes
    assert [first.get_title(), second.get_title()] == ["right", "after the softmax"]
    assert np.allclose(first.images[0].get_array(), RIGHT)
    assert np.allclose([bar.get_width() for bar in bars.patches], 1)
    assert np.allclose([bar.get_width() for bar in others.patches], AFTER.sum(axis=1))
    for ax in (first, second):
        [hatched] = ax.collections
        assert hatched.get_hatch() == "////" and len(hatched.get_paths()) == 6, (
            "six of 16 places lie above the diagonal"
        )
    assert bars.get_ylim() == (3.5, -0.5) == first.get_ylim(), "a bar stands beside its row"


def test_it_is_read_on_a_light_and_on_a_dark_page():
    figure = attention_maps.picture({"right": RIGHT}, VISIBLE)
    assert figure.patch.get_alpha() == 0
    square, bars = figure.axes
    assert square.images[0].cmap(0.0)[3] == 0, "a weight of 0 is the page"
    assert square.xaxis.label.get_color() == INK == bars.xaxis.label.get_color()


def test_a_map_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"'small' has the shape \(2, 2\), and `visible` has \(4, 4\)"):
        attention_maps.picture({"small": np.eye(2)}, VISIBLE)
