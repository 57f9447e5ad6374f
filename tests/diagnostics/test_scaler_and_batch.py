"""What looks like a lost factor, a scaled log or a starved BatchNorm, and is none of them."""

from bugzoo import diagnostics
from bugzoo.diagnostics import batch_statistics, kept_losses, loss_scale
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here


def fired(name, source):
    """Does the instrument fire on a run of this script?"""
    reading = diagnostics.read(name, run_here(source, file="made.py"))
    assert reading.applies, reading.why_not
    (verdict,) = diagnostics.judge_all({name: reading})
    return verdict.fired


def causes(name, source):
    """What the instrument suspects in a run of this script."""
    reading = diagnostics.read(name, run_here(source, file="made.py"))
    (verdict,) = diagnostics.judge_all({name: reading})
    return [suspect.cause for suspect in verdict.suspects]


def test_a_new_scaler_with_a_new_optimiser_is_another_training():
    source = loss_scale.FURTHER[0][1].source.replace(
        "    model.train()", "    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)\n    model.train()"
    )
    assert "resume/scaler_state_lost" in causes("loss_scale", loss_scale.FURTHER[0][1].source)
    assert "resume/scaler_state_lost" not in causes("loss_scale", source)


def test_a_scaler_that_grows_fast_keeps_its_factor():
    grows = loss_scale.FURTHER[0][0].source.replace("init_scale=2.0**120", "init_scale=2.0**20, growth_interval=2")
    assert not fired("loss_scale", grows)


def test_a_loss_that_is_kept_as_a_sum_is_none_with_the_factor():
    summed = kept_losses.HEALTHY.source.replace("losses.append(loss.item())", "losses.append(loss.item() * len(rows))")
    assert not fired("kept_losses", summed)


def test_the_factor_is_found_where_it_is_not_the_usual_one():
    other = kept_losses.SICK.source.replace('GradScaler("cpu")', 'GradScaler("cpu", init_scale=2.0**9)')
    assert fired("kept_losses", other)


def test_averages_that_are_not_trained_ask_for_no_rows():
    small = batch_statistics.SICK.source.replace(
        "optimizer = ", "for parameter in model[1].parameters():\n    parameter.requires_grad = False\noptimizer = "
    )
    reading = diagnostics.read("batch_statistics", run_here(small, file="made.py"))
    assert not reading.applies and "average" in reading.why_not


def test_an_image_has_as_many_rows_as_it_has_places():
    places = example(
        ("torch.randn(256, 8)", "torch.randn(256, 8, 400)"),
        ("inputs[:, 0] > 0", "inputs[:, 0].mean(1) > 0"),
        ("inputs[:, 1] > 0", "inputs[:, 1].mean(1) > 0"),
        ("nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)",
         "nn.BatchNorm1d(8), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 3)"),
        ("split(32)", "split(2)"),
    )  # fmt: skip
    assert not fired("batch_statistics", places.source)
