"""checkup on whatever people hand it, and how it ranks."""

import json

import pytest

from bugzoo.diagnostics import Suspect, Verdict
from bugzoo.diagnostics._rank import rank
from bugzoo.diagnostics.checkup import checkup
from bugzoo.errors import UserError

LOOP = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
{head}
    x = torch.randn(8, 4)
    err = torch.nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    {zero}
    err.backward()
    opt.step()
{tail}
"""


def run(tmp_path, head="for i in range(60):", zero="opt.zero_grad()", tail="", **extra):
    path = tmp_path / "train.py"
    path.write_text(LOOP.format(head=head, zero=zero, tail=tail), encoding="utf-8")
    return checkup(path, **({"most_reruns": 0, "seconds": 30} | extra))


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is_wrong(tmp_path):
    report = run(tmp_path, most_reruns=1)
    fields = report.to_json()
    assert fields["outcome"] == "nothing" and fields["suspects"] == []
    assert {"instrument", "why"} == set(fields["not_checked"][0])
    assert json.loads(json.dumps(fields)) == fields


@pytest.mark.slow
def test_a_script_that_never_ends_is_judged_on_what_was_seen(tmp_path):
    report = run(tmp_path, head="while True:", zero="pass", seconds=1)
    assert report.run_outcome == "timed_out"
    assert report.suspects[0].cause == "loop/stale_gradients"
    assert report.suspects[0].line == 11


def test_a_script_without_training_is_not_judged(tmp_path):
    path = tmp_path / "hello.py"
    path.write_text("print('hello')\n")
    report = checkup(path, most_reruns=0)
    assert report.outcome == "unjudged" and "no optimizer step" in report.why


def test_sys_exit_is_an_ending_like_others(tmp_path):
    assert run(tmp_path, tail="import sys; sys.exit(0)").outcome == "nothing"
    path = tmp_path / "exits.py"
    path.write_text("import sys; sys.exit(3)\n")
    report = checkup(path, most_reruns=0)
    assert report.outcome == "unjudged" and "sys.exit(3)" in report.why


def test_a_crash_names_its_line(tmp_path):
    report = run(tmp_path, tail="torch.ones(3, requires_grad=True).add_(1)")
    assert report.outcome == "found"
    assert (report.suspects[0].cause, report.suspects[0].line) == ("graph/leaf_changed_in_place", 12)


@pytest.mark.slow
def test_much_text_and_forks_do_no_harm(tmp_path):
    report = run(tmp_path, tail="import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\nprint('x' * 20_000_000)")
    assert report.outcome == "nothing"


@pytest.mark.parametrize(("text", "said"), [("for i in range(3)\n    pass\n", "train.py:1:"), ("x = '\0'\n", "Python")])
def test_what_is_no_python_is_said_so_with_its_line(tmp_path, text, said):
    path = tmp_path / "train.py"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        checkup(path)


def test_a_missing_file_is_said_so(tmp_path):
    with pytest.raises(UserError, match="no file"):
        checkup(tmp_path / "nothing.py")


@pytest.mark.slow
def test_drift_between_runs_is_found_by_running_twice(tmp_path):
    report = run(tmp_path, head="torch.seed()\nfor i in range(20):", most_reruns=1)
    assert report.suspects[0].cause == "reproducibility/unseeded"


def verdict(*suspects, by="any"):
    return Verdict(by, True, "", {}, tuple(Suspect(cause, score, "seen") for cause, score in suspects))


def test_what_is_explained_by_another_suspect_comes_after_it():
    ranked = rank([verdict(("optimizer/lr_too_high", 0.85)), verdict(("loop/stale_gradients", 0.95))])
    assert [s.cause for s in ranked] == ["loop/stale_gradients", "optimizer/lr_too_high"]
    assert ranked[1].score < 0.5
    assert [s.explained_by for s in ranked] == ["", "loop/stale_gradients"]


def test_another_reading_of_the_same_evidence_is_told_from_what_remains():
    first = verdict(("loss/double_softmax", 0.6), ("fit/capacity_too_small", 0.25), by="one")
    ranked = rank([first, verdict(("modes/eval_mode_missing", 0.5), by="other")])
    assert {s.cause: (s.explained_by, s.instead_of) for s in ranked} == {
        "loss/double_softmax": ("", ""),
        "modes/eval_mode_missing": ("", ""),
        "fit/capacity_too_small": ("", "loss/double_softmax"),
    }


def test_who_is_named_by_a_second_instrument_as_well_is_no_mere_other_reading():
    first = verdict(("loss/double_softmax", 0.6), ("fit/capacity_too_small", 0.25), by="one")
    ranked = rank([first, verdict(("fit/capacity_too_small", 0.3), by="other")])
    assert [s.instead_of for s in ranked] == ["", ""] and ranked[1].instruments == ("one", "other")


def test_two_instruments_that_agree_count_a_little_more():
    ranked = rank([verdict(("numerics/log_at_step", 0.8)), verdict(("numerics/log_at_step", 0.7))])
    assert len(ranked) == 1 and 0.8 < ranked[0].score < 0.9


def test_verdicts_that_did_not_fire_name_nobody():
    assert rank([Verdict("any", False, "", {}, (Suspect("loop/stale_gradients", 0.9, "x"),))]) == []
