"""Specs, settings, tickets and every mistake that a user can make in them."""

import re
from dataclasses import replace

import pytest

from bugzoo.errors import UserError
from bugzoo.faults import Needs, load
from bugzoo.scenario import Scenario, fits, parse_spec, with_settings


def test_spec_fills_in_defaults_and_reads_numbers():
    assert parse_spec("numerics/log_at_step?step=73") == ("numerics/log_at_step", {"step": 73, "eps": 0.0})
    assert parse_spec("numerics/log_at_step?eps=1e-9&step=5")[1] == {"step": 5, "eps": 1e-9}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("numerics/log_at_step?steps=3", ["no parameter of numerics/log_at_step named 'steps'", "step"]),
        ("numerics/log_at_step?step=-1", ["step=-1 is not allowed", "a whole number from 0 to 100000"]),
        ("numerics/log_at_step?step=2.5", ["a whole number"]),
        ("numerics/log_at_step?eps=many", ["eps=many is not allowed", "from 0 to 1"]),
        ("numerics/log_at_step?eps=nan", ["eps=nan is not allowed"]),
        ("loop/stale_gradients?x=1", ["has no parameters"]),
        ("no spaces here", ["is not a fault spec"]),
        ("loop/stale_gradient", ["Did you mean loop/stale_gradients"]),
    ],
)
def test_bad_specs_say_what_is_allowed(spec, words):
    with pytest.raises(UserError) as caught:
        parse_spec(spec)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("seed", [10**24, 10**5000, -1, 2**32, 0.5, "3", True, None], ids=lambda seed: "")
def test_a_seed_that_no_library_takes_is_refused(seed):
    for arguments in ({"seed": seed}, {"settings": {"seed": seed}}):
        with pytest.raises(UserError, match=r"seed=.* is not allowed; use a whole number from 0 to 4294967295"):
            Scenario("mlp", **arguments)
    assert "seed = 4294967295" in Scenario("mlp", seed=2**32 - 1).source


def test_settings_replace_literals_and_keep_comments():
    source = "seed = 0  # one\nrate = 1e-3\n"
    assert with_settings(source, {"seed": 5}, "mlp") == "seed = 5  # one\nrate = 1e-3\n"
    with pytest.raises(UserError, match=r"no setting of mlp named 'sed'.*Did you mean seed"):
        with_settings(source, {"sed": 5}, "mlp")


def test_twin_shares_settings_and_seed():
    broken = Scenario("mlp", ("loop/stale_gradients",), {"batch_size": 16}, seed=3)
    twin = broken.healthy()
    assert twin.source == broken.base
    assert "seed = 3" in twin.source and "batch_size = 16" in twin.source


def test_two_faults_in_one_text_and_two_at_one_place():
    combined = Scenario("mlp", ("loop/stale_gradients", "freezing/frozen_layers"))
    assert "zero_grad" not in combined.source and "requires_grad = False" in combined.source
    with pytest.raises(UserError, match="both change line"):
        Scenario("mlp", ("numerics/log_at_step", "graph/inplace_activation"))


def test_misfit_names_the_programs_that_fit():
    with pytest.raises(UserError, match=r"numerics/log_at_step does not fit sentiment_lstm: .* It fits .*mlp"):
        Scenario("sentiment_lstm", ("numerics/log_at_step",))
    with pytest.raises(UserError, match=r"no program named 'mpl'.*Did you mean mlp"):
        Scenario("mpl")
    with pytest.raises(UserError, match="full or tiny"):
        Scenario("mlp", size="huge")


def test_ticket_is_stable_and_depends_on_the_content():
    first, second = Scenario("mlp", ("loop/stale_gradients",)), Scenario("mlp", ("freezing/frozen_layers",))
    assert first.ticket == Scenario("mlp", ("loop/stale_gradients",)).ticket != second.ticket
    assert re.fullmatch(r"[A-Z]-[0-9A-Z]{4}-[0-9A-Z]{4}", first.ticket)


def test_a_hundred_thousand_variants_have_tickets_of_their_own():
    scenario = Scenario("mlp", ("loop/stale_gradients",))
    tickets = set()
    for seed in range(100_000):
        object.__setattr__(scenario, "seed", seed)  # a new Scenario checks its edits each time
        tickets.add(scenario.ticket)
    assert len(tickets) == 100_000


def test_where_a_fault_shows_nothing_the_reason_is_told_and_it_does_not_fit():
    fault = load("modes/eval_mode_missing")
    assert "mlp" not in fits(fault) and "digits_cnn" in fits(fault) == tuple(sorted(fits(fault)))
    with pytest.raises(
        UserError, match=r"does not fit mlp: it has neither dropout nor BatchNorm.*It fits .*digits_cnn"
    ):
        Scenario("mlp", (fault.id,))


def test_a_fault_of_ranks_fits_programs_of_ranks_only():
    assert fits(load("distributed/skipped_batch")) == ("data_parallel",)
    assert "data_parallel" in fits(replace(load("loop/stale_gradients"), needs=Needs(ranks=2)))
    assert fits(replace(load("loop/stale_gradients"), needs=Needs(ranks=3))) == ()


def test_needs_are_typed_and_the_tighter_limit_counts():
    with pytest.raises(TypeError, match="memory_mb"):
        Needs(memory_mb=5)
    combined = Needs(memory_mib=900, seconds=20) | Needs(memory_mib=700, ranks=2)
    assert combined == Needs(memory_mib=700, seconds=20, ranks=2) and combined and not Needs()
    assert str(combined) == "2 processes, a memory limit of 700 MiB, a time limit of 20 s"
    assert combined.to_json() == {"ranks": 2, "memory_mib": 700, "seconds": 20}
