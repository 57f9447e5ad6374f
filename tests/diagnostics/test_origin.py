"""Where an argument comes from: one step back, within the function."""

import pytest

from bugzoo.diagnostics._origin import origin

TEXT = """import torch.nn.functional as F
probs = 1
def loss(scores, target):
    probs = scores.softmax(-1)
    if True:
        probs, other = probs / 2, 3
    def inner():
        probs = 5
    return F.kl_div(
        probs,
        target=target,
    )
F.kl_div(target=probs, input=probs)
F.kl_div(probs.exp(), probs)
F.kl_div(*probs)
"""


@pytest.mark.parametrize(
    ("line", "place", "keyword", "wanted"),
    [(9, 0, "input", 6), (10, 0, "input", 6), (9, 1, "target", 9), (13, 0, "input", 2), (13, 1, "target", 2),
     (14, 0, "input", 14), (14, 1, "target", 2), (15, 0, "input", 15), (2, 0, "input", 2)],
)  # fmt: skip
def test_the_latest_assignment_before_the_call(line, place, keyword, wanted):
    assert origin(TEXT, line, place, keyword) == wanted


def test_what_is_no_python_stays_where_it_is():
    assert origin("for i in", 1, 0, "input") == 1
