"""`tiny_subset` sees what one batch cannot show, leaves the rest to `overfit_one_batch`, and the run as it was."""

import pytest
import torch

from bugzoo.diagnostics import judge_all, read, tiny_subset
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here

from .test_one_batch import FUNCTION


def asked(source, name="tiny_subset"):
    run = run_here(source, file="subset.py")
    assert run.outcome == "finished", run.trace.error
    return run, read(name, run)


def test_labels_that_are_drawn_anew_are_seen_by_several_visits_and_not_by_one_batch():
    """One batch is repeated with the random numbers of its first visit: a shuffle in the step is the same each time."""
    shuffled = example(("targets[rows])", "targets[rows][torch.randperm(len(rows))])")).source
    run, reading = asked(shuffled)
    assert reading.numbers["together"] > 0.8 and reading.numbers["alone"] < 0.5 and reading.numbers["batches"] == 4
    one = read("overfit_one_batch", run)
    assert one.numbers["ratio"] < 0.2 and not judge_all({"overfit_one_batch": one})[0].fired


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, True),
        ({"alone": 0.9}, False),
        ({"together": 0.5}, False),
        ({"late_fall": 0.2}, False),
        ({"passes": 5.0}, False),
    ],
)
def test_it_says_so_only_where_one_is_learnt_and_several_stand_still(change, said):
    seen = {"batches": 4.0, "passes": 70.0, "first_loss": 1.1, "best_loss": 1.0, "together": 0.95, "alone": 0.1}
    verdict = tiny_subset.judge(seen | {"late_fall": 0.0} | change)
    assert ("from visit to visit" in verdict.message) is said and not verdict.fired


def test_a_body_that_draws_its_batches_gets_the_same_ones_again_and_all_is_as_before():
    run = run_here(FUNCTION.replace("LINE", "rows = torch.randint(256, (32,))"), file="subset.py")
    before, random = [p.detach().clone() for p in run.namespace["model"].parameters()], torch.get_rng_state()
    reading = read("tiny_subset", run)
    assert reading.applies, reading.why_not
    assert reading.numbers["batches"] >= 2 and reading.numbers["together"] < 0.5  # four where there is time
    assert all(map(torch.equal, before, run.namespace["model"].parameters()))
    assert torch.equal(random, torch.get_rng_state())


def test_what_it_cannot_be_asked_of_is_refused_in_words():
    whole = example(("for rows in torch.randperm(256).split(32)", "for rows in torch.arange(256).split(256)")).source
    assert "all its batches are the same" in asked(whole.replace("nn.Linear(8, 32)", "nn.Linear(8, 320)").replace(
        "nn.Linear(32, 3)", "nn.Linear(320, 3)"))[1].why_not  # fmt: skip
    small = example(("nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)", "nn.Linear(8, 3)")).source
    assert "27 trainable numbers need not be able to learn 128 targets" in asked(small)[1].why_not
