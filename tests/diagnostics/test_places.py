import ast

import pytest

from bugzoo.diagnostics.causes import locate

SCRIPT = """\
import torch
rate = 5.0
def fit(net, batches, sched):
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    kept = []
    for x, y in batches:
        out = net(x)
        cost = torch.nn.functional.cross_entropy(out.softmax(-1), y)
        cost = cost / 2
        cost.backward()
        sched.step()
        opt.step()
        kept.append(cost)
labels = labels[torch.randperm(len(labels))]
"""


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        ("loop/stale_gradients", 12), ("loss/double_softmax", 8), ("memory/losses_kept_with_graph", 13),
        ("optimizer/lr_too_high", 2), ("precision/no_grad_scaler", 10), ("data/labels_out_of_sync", 14),
        ("freezing/frozen_layers", None), ("reproducibility/unseeded", None), ("nobody/knows", None),
    ],
)  # fmt: skip
def test_a_suspect_is_given_the_line_that_it_lives_in(cause, line):
    assert locate(cause, SCRIPT) == line


def test_inputs_and_labels_under_different_indices():
    assert locate("data/labels_out_of_sync", "a = 1\nloader = TensorDataset(x[i], y[i.sort().values])\n") == 2
    assert locate("data/labels_out_of_sync", "loader = TensorDataset(x[i], y[i])\n") is None


def test_a_text_that_is_no_python_has_no_places():
    assert locate("loop/stale_gradients", "for :") is None


def test_no_tree_of_another_text_holds_what_was_read():
    locate("loop/stale_gradients", SCRIPT)
    other = ast.parse("a = -b + (c and d == e)\n")
    assert all(not hasattr(node, "parent") for node in ast.walk(other))
