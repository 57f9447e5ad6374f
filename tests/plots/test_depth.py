"""A deep stack multiplies, forward and back: what the figure draws is so."""

import math

from bugzoo.plots import depth


def test_a_deep_stack_multiplies() -> None:
    spread, gradient = depth.measure(1.0)
    assert spread.shape == gradient.shape == (12,) and 0.3 < spread[-1] / spread[0] < 3
    for scale in (0.5, 2.0):
        small, pull_back = depth.measure(scale)
        assert abs(math.log(small[-1] / spread[-1] / scale**12)) < 0.01, "each layer once"
        assert abs(math.log(pull_back[0] / gradient[0] / scale**11)) < 0.01
    figure = depth.picture({"half": 0.5, "right": 1.0})
    assert [line.get_linestyle() for line in figure.axes[0].lines] == ["-", "--"] and figure.patch.get_alpha() == 0
