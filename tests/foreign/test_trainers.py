"""Trainers of other packages, the real ones: the loop is theirs, the loss and the model are a user's.

They are no part of the tests' packages: `pip install -e ".[trainers]"` brings them.
"""

import importlib.util
from dataclasses import replace

import pytest

from bugzoo.diagnostics.checkup import checkup
from tests.corpus import scripts

TRAINERS = {script.name: script for script in scripts("trainers")}
BROKEN = [
    ("lightning_module", "F.cross_entropy(self(x), y)\n\n    def val", "F.cross_entropy(self(x).softmax(-1), y)\n\n    def val",
     "loss/double_softmax"),
    ("lightning_module", "lr=3e-3", "lr=30.0", "optimizer/lr_too_high"),
    ("lightning_module", "Adam(self.parameters()", "Adam(self.net[2].parameters()", "optimizer/some_parameters_left_out"),
    ("hugging_face", "F.cross_entropy(logits,", "F.cross_entropy(logits.softmax(-1),", "loss/double_softmax"),
    ("hugging_face", "learning_rate=3e-3", "learning_rate=30.0", "optimizer/lr_too_high"),
]  # fmt: skip


def checked(name, folder, before="", after=""):
    trainer = replace(TRAINERS[name], before=before, after=after)
    if importlib.util.find_spec(trainer.needs) is None:
        pytest.skip(f"{trainer.needs} is not installed")
    (folder / "train.py").write_text(trainer.text, encoding="utf-8")
    return checkup(folder / "train.py", most_reruns=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINERS)
def test_a_healthy_one_is_left_in_peace(name, tmp_path):
    report = checked(name, tmp_path)
    assert (report.outcome, report.steps) == ("nothing", 156), str(report)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "before", "after", "cause"), BROKEN, ids=lambda value: str(value)[:20])
def test_the_right_cause_comes_first(name, before, after, cause, tmp_path):
    report = checked(name, tmp_path, before, after)
    assert [suspect.cause for suspect in report.suspects[:1]] == [cause], str(report)
