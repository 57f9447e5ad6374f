"""The committed ledger is whole and true: everything has an entry about today's texts, and some entries are run again.

Always the same ones, of each kind one that takes a few seconds. `make prove` does the whole dozen here, `bugzoo verify
--sample 150` more of them.
"""

import os

import pytest

from bugzoo.proving import coverage, ledger, standing
from tests.sampling import only_in_prove

DOZEN = (
    "attention/causal_off_by_one on mini_transformer, seed 4",
    "numerics/log_at_step on modular_addition, seed 2",
    "initialisation/dead_relu on data_parallel, seed 2",
    "10_restless_loss, degenerate 'half forgotten'",
    "10_restless_loss, degenerate 'divided by the step'",
    "04_flat_loss, attack 'instruments replaced'",
    "freezing/optimizer_on_old_model on mlp, degenerate 'hard-coded'",
    'loss/mask_broadcast on mlp, correct "the loss\'s own way"',
    "data/target_among_inputs on regression_mlp, degenerate 'in other units'",
    "loop/step_every_n_never_zeroed and loop/stale_gradients on checkpointed_mlp",
    "metrics/metric_not_reset and metrics/argmax_over_wrong_dim on checkpointed_mlp",
    "loop/scheduler_before_optimizer and loop/scheduler_per_microbatch on checkpointed_mlp",
)
OF_EACH_KIND = (
    "initialisation/dead_relu on data_parallel, seed 2",
    "10_restless_loss, degenerate 'half forgotten'",
    "04_flat_loss, attack 'instruments replaced'",
    'loss/mask_broadcast on mlp, correct "the loss\'s own way"',
    "metrics/metric_not_reset and metrics/argmax_over_wrong_dim on checkpointed_mlp",
)


@pytest.fixture(autouse=True)
def the_real_one(own_places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")


@pytest.mark.slow
def test_everything_is_in_the_ledger() -> None:
    lacking = coverage.lacking()
    lines = "\n".join(lacking[:20])
    assert not lacking, f"{len(lacking)} things are to be proved (`bugzoo verify && bugzoo check` does all):\n{lines}"


def test_every_row_of_the_texts_stands() -> None:
    """Else `verify` and this test make a thousand texts to compare them, each time."""
    behind = [fault.id for fault in coverage.catalogue.catalogue().values() if not standing.stands(fault)]
    assert not behind, f"proofs/texts.json is behind for {len(behind)} faults; `bugzoo verify` brings it up to date"


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [OF_EACH_KIND, only_in_prove(tuple(sorted({*DOZEN} - {*OF_EACH_KIND})))])
def test_a_dozen_comes_out_as_it_is_written(chosen: tuple[str, ...]) -> None:
    before = {name: (ledger.home() / name).stat().st_mtime for name in os.listdir(ledger.home())}
    samples = dict(entry for entries in coverage.KINDS for entry in entries())
    assert set(DOZEN) <= set(samples), "no longer in the ledger; choose another: " + ", ".join(
        set(DOZEN) - set(samples)
    )
    problems = [f"{what}: {text}" for what in chosen for text in samples[what]()]
    assert not problems, "\n".join(problems)
    assert before == {name: (ledger.home() / name).stat().st_mtime for name in os.listdir(ledger.home())}
