"""Swaps find their one place, keep everything else, compose, conflict and undo."""

import pytest

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.faults import Fault, Swap
from bugzoo.faults.verbs import either
from bugzoo.injection import diff, inject

SCRIPT = """\
import torch
# café: offsets are characters, not bytes
for x, y in loader:
    opt.zero_grad()
    # a comment between two statements
    loss = F.cross_entropy(model(x),
                           y, weight=w)  # keep me
    loss.backward()
    opt.step()


def other():
    opt.zero_grad()
"""


def fault(name: str, *swaps) -> Fault:
    return Fault(name, 1, "stuck", swaps, (), "none", "", "", ("", "", ""), id=name)


def test_removing_a_statement_takes_its_line_away():
    broken = inject(SCRIPT, [(fault("a", Swap("$O.zero_grad($$$A)", "")), {})], at=4).broken
    assert broken == SCRIPT.replace("    opt.zero_grad()\n", "", 1)


def test_removing_the_only_statement_leaves_pass():
    broken = inject(SCRIPT, [(fault("a", Swap("$O.zero_grad($$$A)", "")), {})], at=13).broken
    assert broken.endswith("def other():\n    pass\n")


def test_statements_match_across_a_comment_with_the_same_names():
    swap = Swap("$O.zero_grad()\n$L = F.cross_entropy($X, $$$R)", "$L = F.cross_entropy($X, $$$R)\n$O.zero_grad()")
    broken = inject(SCRIPT, [(fault("a", swap), {})]).broken
    assert "    loss = F.cross_entropy(model(x), y, weight=w)\n    opt.zero_grad()  # keep me\n" in broken


def test_names_must_agree_between_statements():
    swap = Swap("$L = F.cross_entropy($$$R)\n$L.mean()", "")
    with pytest.raises(UserError, match="the code that it changes is missing"):
        inject(SCRIPT, [(fault("a", swap), {})])


def test_several_places_are_listed_with_line_numbers():
    with pytest.raises(UserError) as caught:
        inject(SCRIPT, [(fault("loop/x", Swap("$O.zero_grad($$$A)", "")), {})], "train.py")
    text = str(caught.value)
    assert "loop/x fits 2 places in train.py" in text
    assert "line 4: opt.zero_grad()" in text and "line 13: opt.zero_grad()" in text
    assert "--at LINE, for example --at 4" in text


def test_the_first_alternative_that_fits_once_counts():
    entry = either(Swap("nothing_like_this()", "x"), Swap("$L.backward()", "$L.backward(retain_graph=True)"))
    assert "loss.backward(retain_graph=True)" in inject(SCRIPT, [(fault("a", entry), {})]).broken


def test_where_must_hold_with_the_same_names():
    swap = Swap("$O.zero_grad()", "", where="$O.stride()")
    with pytest.raises(UserError, match="does not fit"):
        inject(SCRIPT, [(fault("a", swap), {})], at=4)


def test_parameters_and_folding():
    text = "lr = 0.001\nrate = base\n"
    fault_a = fault("a", Swap("lr = $LR", "lr = fold($LR * $factor)"))
    fault_b = fault("b", Swap("rate = $LR", "rate = fold($LR * $factor)"))
    assert (
        inject(text, [(fault_a, {"factor": 100.0}), (fault_b, {"factor": 2})]).broken == "lr = 0.1\nrate = base * 2\n"
    )


def test_two_faults_at_one_place_conflict_in_any_order():
    first, second = fault("loss/one", Swap("$L.backward()", "")), fault("loss/two", Swap("$L.backward()", "$L.sum()"))
    for pair in ((first, second), (second, first)):
        with pytest.raises(UserError, match=r"both change line 8 of train.py; they cannot be combined"):
            inject(SCRIPT, [(f, {}) for f in pair], "train.py")


def test_composition_does_not_depend_on_order_and_undoes():
    fault_a = fault("a", Swap("$O.zero_grad()", "", where="loss.backward()"))
    fault_b = fault("b", Swap("$L.backward()", "$L.backward(retain_graph=True)"))
    first = inject(SCRIPT, [(fault_a, {}), (fault_b, {})], at=4)
    second = inject(SCRIPT, [(fault_b, {}), (fault_a, {})], at=4)
    assert first.broken == second.broken != SCRIPT
    assert first.undo(first.broken) == SCRIPT
    with pytest.raises(ValueError, match="no longer holds"):
        first.undo(first.broken.replace("retain_graph=True", "retain_graph=False"))


def test_a_syntax_error_is_named_with_its_line():
    with pytest.raises(UserError, match=r"train.py is not valid Python: .*line 2"):
        inject("x = 1\nfor in y:\n", [(fault("a", Swap("$X = 1", "")), {})], "train.py")


def test_tabs_and_nested_indentation_are_kept():
    text = "def f():\n\tif a:\n\t\topt.step()\n"
    broken = inject(text, [(fault("a", Swap("$O.step()", "if b:\n    $O.step()")), {})]).broken
    assert broken == "def f():\n\tif a:\n\t\tif b:\n\t\t    opt.step()\n"


def test_diff_shows_both_sides():
    assert diff("a\n", "b\n", "t.py") == "--- healthy/t.py\n+++ broken/t.py\n@@ -1 +1 @@\n-a\n+b\n"


def test_what_is_taken_out_of_an_expression_leaves_none():
    program = (
        "import torch\nfor step in range(3):\n    optimizer.zero_grad() if step % 2 else None\n    optimizer.step()\n"
    )
    broken = inject(program, [(faults.load("loop/stale_gradients"), {})]).broken
    assert "    None if step % 2 else None\n" in broken
