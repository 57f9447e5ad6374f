"""By which rows a table was standardised: what is nobody's mistake leaves it quiet."""

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics import normalisation_source
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.train_validation_overlap import _LOADERS
from bugzoo.running import run_here

ALL = "inputs = (inputs - inputs.mean(0)) / inputs.std(0)\n"


def fired(*lines: str, batch: str = "some") -> bool:
    """With these lines behind the drawing of the inputs, and this given to the model in training."""
    loaders = [
        (a, b.replace("model(some)", f"model({batch})") if a == "model(inputs[rows])" else b) for a, b in _LOADERS
    ]
    source = example(("targets = (inputs", "".join(lines) + "targets = (inputs"), *loaders).source
    reading = diagnostics.read("normalisation_source", run_here(source, file="scaled.py"))
    assert reading.applies, reading.why_not
    (verdict,) = diagnostics.judge_all({"normalisation_source": reading})
    return verdict.fired


@pytest.mark.parametrize(
    ("lines", "batch"),
    [
        ("inputs = (inputs * 16 + 3 - 3) / 16\n", "some"),
        ("inputs = (inputs - inputs.mean()) / inputs.std()\n", "some"),
        ("", "(some - some.mean(0)) / some.std(0)"),
        (
            "inputs = inputs - inputs.mean(0)\ninputs = inputs / inputs.norm(dim=0)\n",
            "some",
        ),  # load_diabetes() comes so
        ("inputs[:, :2] = (inputs[:, :2] > 0).float()\n", "some"),
        ("inputs = (inputs - inputs[:200].mean(0)) / inputs.std(0)\n", "some"),
    ],
    ids=["constants", "one mean", "of each batch", "as it came", "yes and no", "deviation alone"],
)
def test_what_was_not_learnt_from_the_validation_rows_is_left_in_peace(lines, batch):
    assert not fired(lines, batch=batch)


@pytest.mark.parametrize(
    "lines",
    [
        ALL,
        ALL + "inputs[:, 3:] = (inputs[:, 3:] > 0).float()\n",  # the other columns were scaled
        "inputs = (inputs - inputs[200:].mean(0)) / inputs[200:].std(0)\n",
        "inputs = (inputs - inputs.mean(0)) / inputs.std(0, correction=0)\n",  # scikit-learn's
        "more = torch.cat([inputs, torch.randn(99, 8)])\nmore = (more - more.mean(0)) / more.std(0)\ninputs = more[:256]\n",
    ],
    ids=["all", "some columns", "the validation rows", "the other deviation", "a longer table"],
)
def test_whoever_took_them_from_more_rows_is_found(lines):
    assert fired(lines)


def test_all_rows_may_normalise_where_all_are_trained_on():
    reading = diagnostics.read("normalisation_source", run_here(example(("targets = (", ALL + "targets = (")).source))
    assert not reading.applies and "DataLoader" in reading.why_not
    assert normalisation_source.judge({"columns": 8, "mean_train": 1e-7}).fired is False
