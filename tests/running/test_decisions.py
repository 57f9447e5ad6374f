"""A script's decisions are answered for a grown number only where they have come out in one way, and else as they are."""

import ast
import itertools

import pytest
import torch

from bugzoo.grading.own_decisions import rewritten
from bugzoo.running import decisions

LOOP = """
import torch
weight = torch.nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([weight])
hits, seen = [], {head}
for step in range({steps}):
    seen = {seen}
    if {test}:
        hits.append(step)
    optimizer.step()
"""
WATCHED = decisions.FIRST


def hits(test: str, head: str = "0", seen: str = "step", steps: int = 60) -> list[int]:
    """Return the steps at which a test of `seen` is true in a loop whose decisions were rewritten."""
    text = rewritten(LOOP.format(test=test, head=head, seen=seen, steps=steps), (), steps)
    space: dict = {}
    exec(compile(text or LOOP.format(test=test, head=head, seen=seen, steps=steps), "loop", "exec"), space)
    return space["hits"]


@pytest.mark.parametrize(
    "test",
    [
        "seen >= 4400", "4400 < seen", "seen == 4400", "4400 <= seen < 4500", "seen > 44_000_000", "seen in (4400, 9)",
        "seen in range(4400, 4500)", 'seen > int("4400")', "seen // 4400", "max(0, seen - 4400)",
        "int(seen / 10000)", "bool(seen // 5000)", "not seen < 4400", "torch.tensor(seen) > 4400", "seen / 60 > 1.5",
        "seen >= 4400 and seen < 4500", "seen ** 2 > 10**7", "{4400: True}.get(seen)", "{4400: 1}.get(seen, 0)",
    ],
)  # fmt: skip
def test_what_waits_for_a_number_gets_it(test):
    found = hits(test)
    assert found and min(found) >= WATCHED


@pytest.mark.parametrize(
    ("head", "seen", "test"),
    [
        ("10**6", "seen - 1", "seen < 10"),
        ("[]", "[*seen, 0]", "len(seen) > 4400"),
        ("{'n': 0}", "{'n': seen['n'] + 1}", "seen['n'] == 9999"),
        ("torch.zeros(())", "seen + 1", "seen > 4400"),
    ],
)
def test_counters_of_any_kind_are_seen(head, seen, test):
    assert hits(test, head, seen)


@pytest.mark.parametrize(
    ("test", "seen"),
    [
        ("seen % 4 == 0", "step"),  # it has come out in both ways
        ("seen >= 30", "step"),  # it comes later, within the run
        ("seen > 4400", "3"),  # nothing grows
        ("seen > 4400", "[3, 1, 4, 1, 5, 9, 2, 6, 5, 3][step % 10]"),  # it goes up and down
        ("seen > 1e6", "1 / (1 + step)"),  # a loss falls
        ("seen > step + 1000", "step"),  # nothing stays
        ("{30: True}.get(seen)", "step"),  # its turn comes within the run
        ("seen > None", "step"),
    ],
)
def test_all_else_is_decided_as_it_is(test, seen):
    if "None" in test:
        with pytest.raises(TypeError):
            hits(test, seen=seen)
        return
    plain: dict = {}
    exec(LOOP.format(test=test, head="0", seen=seen, steps=60), plain)
    assert hits(test, seen=seen) == plain["hits"]


def test_a_number_of_the_batch_grows_although_it_begins_anew_with_each_epoch():
    assert hits("seen > 4400", seen="step % 20")
    assert not hits("seen > 4400", seen="step % 2")


def test_one_number_can_hold_for_all_steps():
    text = rewritten(LOOP.format(test="seen == 4401", head="0", seen="step", steps=40), (), 40, 10**9)
    space: dict = {}
    exec(compile(text or "", "loop", "exec"), space)
    assert space["hits"] == list(range(WATCHED, 40))


def test_each_number_has_its_turn():
    found = hits("seen == 4400", steps=90)
    assert len({two - one for one, two in itertools.pairwise(found)}) == 1


def test_comparisons_of_whole_batches_and_chains_are_answered_as_python_does():
    batch = torch.arange(4)
    decisions.begin(9, 1, 0)
    assert decisions.compared(0, (">",), batch, 1).tolist() == [False, False, True, True]
    assert decisions.compared(1, ("<", "<"), 1, 3, 2) is False
    assert decisions.compared(2, ("in",), 3, [1, 2]) is False and decisions.compared(3, ("not in",), 3, [1]) is True
    assert decisions.divided(4, 7, 2) == 3 and decisions.called(5, max, 3, 9) == 9
    assert decisions.called(6, min, [4, 2]) == 2 and decisions.called(7, round, 2.567, 1) == 2.6


def test_decisions_of_the_healthy_program_and_ends_of_training_loops_stay_as_they_are():
    text = LOOP.format(test="seen > 3", head="0", seen="step", steps=9)
    assert rewritten(text, (text,), 9) is None
    loop = "n = 0\nwhile n < 50:\n    loss.backward()\n    n += 1\n"
    assert rewritten(loop, (), 9) is None
    assert rewritten("print(f'{loss > 3}')\n", (), 9) is None


def test_the_docstring_and_imports_from_the_future_stay_first():
    text = rewritten('"""Text."""\nfrom __future__ import annotations\nok = len([]) > 3\n', (), 9)
    tree = ast.parse(text or "")
    assert ast.get_docstring(tree) == "Text." and isinstance(tree.body[1], ast.ImportFrom)
    compile(text or "", "text", "exec")
