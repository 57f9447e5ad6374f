"""Every program can be graded: its healthy text passes, a broken one does not, whatever its task and its ranks."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.grading import bands, baseline, checks, evaluation, integrity, second_run
from bugzoo.grading.evaluation.members import foreign, rows, windows
from bugzoo.grading.evaluation.tasks import TASKS
from bugzoo.grading.grade import grade
from bugzoo.grading.reference import membership, questions, shapes, space
from bugzoo.grading.rows import sketch
from bugzoo.grading.submission import Submission
from bugzoo.grading.texts import tidy
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace
from tests.sampling import only_in_prove

BROKEN_BY = dict.fromkeys(programs.names(), "loop/stale_gradients") | {"amp_transformer": "precision/no_grad_scaler"}
REGRESSION = Scenario("regression_mlp", ("loop/stale_gradients",))


def failed(result) -> set[str]:
    return {check.name for check in result.checks if not check.passed}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name if name == "regression_mlp" else only_in_prove(name) for name in programs.names()]
)
def test_the_healthy_text_of_every_program_passes_and_a_broken_one_does_not(name):
    case = Scenario(name, (BROKEN_BY[name],))
    whole = grade(tidy(case.healthy().source), case, seeds=(0,))
    assert whole.passed, str(whole)
    broken = grade(tidy(case.source), case, seeds=(0,))
    assert broken.status == "wrong" and broken.share == 0 and "symptom" in failed(broken), str(broken)


@pytest.mark.slow
def test_regression_is_judged_by_r2_and_squared_error():
    whole = grade(tidy(REGRESSION.healthy().source), REGRESSION, seeds=(0,))
    named = {check.name: check for check in whole.checks}
    assert whole.passed and 0.5 < named["r2"].number < 0.65 and "squared deviations" in named["loss"].saw, str(whole)
    assert {"data", "report", "answers", "budget"} <= named.keys()


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "seen_by"),
    [
        (("learning_rate = 1e-3", "learning_rate = 3e-4"), {"r2", "loss"}),
        (("rows[train], values[train]), batch", "rows[train], values[train].flip(0)), batch"), {"data"}),
        (("TensorDataset(rows[train], values[train])", "TensorDataset(rows[-283:], values[-283:])"), {"data"}),
        (('"r2": 1 - summed / spread', '"r2": 0.9'), {"report"}),
        (("optimizer = ", "model.layer1.requires_grad_(False)\noptimizer = "), {"training"}),
        (("hidden_size = 32", "hidden_size = 64"), {"model size"}),
    ],
)
def test_what_only_looks_like_a_repair_of_a_regression_fails(edit, seen_by):
    text = tidy(REGRESSION.healthy().source)
    assert text.count(edit[0]) == 1
    text = text.replace(*edit)
    result = grade(text, REGRESSION, seeds=(0,), all_seeds=True)
    assert result.share == 0 and seen_by <= failed(result), str(result)


@pytest.mark.slow
def test_two_runs_are_judged_as_a_pair():
    """One run of an unseeded program is as good as any; the second one tells."""
    case = Scenario("mlp", ("reproducibility/unseeded",))
    assert second_run.judges(case) == ("determinism",) and second_run.judges(case.healthy()) == ()
    broken = grade(tidy(case.source), case, seeds=(0,))
    assert broken.share == 0 and {"determinism", "symptom"} <= failed(broken), str(broken)
    repaired = tidy(case.source).replace("torch.seed()", "torch.manual_seed(seed)\nnumbers = torch.get_rng_state()")
    assert grade(repaired, case, seeds=(0,)).passed


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_two_runs_that_draw_a_seed_of_their_own_are_told_apart():
    case = Scenario("mlp", ("reproducibility/unseeded",))
    repaired = tidy(case.source).replace("torch.seed()", "torch.manual_seed(seed)\nnumbers = torch.get_rng_state()")
    assert grade(repaired, case, seeds=(0, 1)).passed
    lucky = repaired.replace("step = 0\n", "import os\nstep = 0\ntorch.manual_seed(int.from_bytes(os.urandom(4)))\n", 1)
    assert {"determinism", "symptom"} <= failed(grade(lucky, case, seeds=(0,)))


LOST = Scenario("checkpointed_mlp", ("resume/optimizer_state_lost",))
READ = '    optimizer.load_state_dict(saved["optimizer"])\n'


def test_a_program_that_resumes_is_judged_by_its_own_two_runs():
    assert second_run.judges(LOST) == second_run.judges(LOST.healthy()) == ("resumption",)
    stale = Scenario("checkpointed_mlp", ("loop/stale_gradients",))
    assert second_run.judges(stale) == ("resumption",), "whatever is wrong with it, it has to go on from its checkpoint"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_what_does_not_go_on_as_it_was_is_no_repair():
    """Left as it was, without the setting, and with a checkpoint that is never read; the whole repair passes."""
    assert grade(tidy(LOST.healthy().source), LOST, seeds=(0, 1)).passed
    broken = grade(tidy(LOST.source), LOST, seeds=(0,))
    assert broken.share == 0 and {"resumption", "symptom"} <= failed(broken), str(broken)
    healthy = tidy(LOST.healthy().source)
    assert healthy.count("stop_after = 0") == 1
    gone = grade(
        healthy.replace("stop_after = 0", "stopped = stop = 0").replace("stop_after", "stop"), LOST, seeds=(0,)
    )
    assert gone.share == 0 and "second run" in failed(gone), str(gone)
    assert any("stop_after" in check.saw for check in gone.checks)
    anew = grade(healthy.replace("if Path(checkpoint).exists():", "if False:"), LOST, seeds=(0,))
    assert anew.share == 0 and "resumption" in failed(anew), str(anew)


def test_a_pair_that_never_was_does_not_pass(monkeypatch):
    case = Scenario("mlp", ("reproducibility/unseeded",))
    ended = Run(replace(Trace(), outcome="crashed"))
    monkeypatch.setattr("bugzoo.rerun.script.run_worker", lambda job: ended)
    readings = second_run.measure(_job(), Run(replace(Trace(), outcome="finished")), case)
    assert readings["determinism"] == Reading(why_not="the second run ended as crashed")
    for run in (Run(Trace(), readings=readings), Run(Trace())):
        assert [check.passed for check in checks.compared(Submission(run, case))] == [False]


def _job():
    from bugzoo.running import Job

    return Job("pass")


def test_runs_that_nobody_knows_are_refused(monkeypatch):
    case = Scenario("mlp")
    monkeypatch.setattr(Scenario, "facts", {"runs": 2, "second": "backwards"})
    with pytest.raises(UserError, match="runs is 1 or 2, and second is"):
        second_run.judges(case)
    monkeypatch.setattr(Scenario, "facts", {"runs": 2, "second": "again"})
    assert second_run.judges(case) == ("determinism",)


def test_a_program_without_held_out_data_says_what_is_missing(monkeypatch):
    mlp = programs.load("mlp")
    monkeypatch.setattr(programs, "load", lambda name: replace(mlp, facts={"task": "classification"}))
    with pytest.raises(UserError, match="its facts do not say held_out, training, validation"):
        evaluation.task("mlp")
    full = {"task": "origami", "held_out": "1", "training": "1", "validation": "1"}
    monkeypatch.setattr(programs, "load", lambda name: replace(mlp, facts=full))
    with pytest.raises(UserError, match="its task is 'origami'"):
        evaluation.task("mlp")


@pytest.mark.parametrize("name", ["mlp", "digits_cnn", "regression_mlp", "mini_transformer"])
def test_what_is_held_out_is_no_training_data_and_the_validation_data_is_neither(name):
    case = Scenario(name)
    names = space(case.source, name)
    inputs, targets = questions(case)
    member = membership(case)
    assert len(inputs) == len(targets) >= 88
    validation = evaluation.validation(names, name, 0)
    batches = [(torch.as_tensor(inputs), torch.as_tensor(targets)), *validation]
    outside = [_member(member, row, label) for x, y in batches for row, label in zip(x[:20], y[:20], strict=True)]
    assert sum(outside) <= (0.2 * len(outside) if name == "mini_transformer" else 0), (
        "help texts repeat themselves a little"
    )
    if "train_loader" in names:
        x, y = next(iter(names["train_loader"]))
    else:
        x, y = names["batch"](names["train_codes"], 8)
    if name == "digits_cnn":
        x = names["normalise"](names["augment"](x))
    assert all(_member(member, row, label) for row, label in zip(x, y, strict=True))


def _member(member, row, label):
    example = sketch(row.numpy() + 1e-6) if row.is_floating_point() else row.tolist()
    return member.find(example, label.reshape(-1)[-1].item()) >= 0


def _known(members):
    return lambda row, label: members.find(row, label) >= 0


def test_a_row_with_another_s_target_is_none_of_the_training_data():
    table, values = torch.randn(50, 10), torch.randn(50)
    member = _known(rows(table, values))
    assert member(sketch(table[3]), values[3].item()) and member(sketch(table[3]), None)
    assert not member(sketch(table[3]), values[4].item()) and not member(sketch(table[3] + 0.1), values[3].item())
    words = _known(rows(torch.tensor([[5, 6, 0], [7, 0, 0]]), torch.tensor([1, 0])))
    assert words([5, 6], 1) and words([5, 6, 0, 0], 1) and not words([5, 6], 0) and not words([6, 5], 1)
    assert words([5, 6], -100) and not words([6, 5], -100), "a target that the loss leaves out says nothing"
    of_lines = rows(torch.tensor([[5, 6, 0], [7, 8, 9]]), torch.tensor([[6, 2, 0], [8, 9, 3]]))
    picked = ([[5, 6, 0], [7, 8, 9]], [6, 2, 8, 9, 3])  # five words were asked for
    assert foreign([picked], of_lines) == (2, 0) and foreign([([[9, 6, 0], [7, 8, 9]], picked[1])], of_lines) == (2, 1)
    assert foreign([([[5, 6, 0], [7, 8, 9]], [6, 2, 0, 8, 9, 4])], of_lines) == (2, 1)
    text = _known(windows(torch.tensor([1, 2, 3, 4])))
    assert text([2, 3], 4) and not text([2, 3], 1) and not text([300], None)


@pytest.mark.parametrize("shape", [(40,), (40, 1)])
def test_numbers_are_measured_whatever_their_shape(shape):
    kind, targets = TASKS["regression"], np.linspace(-1, 1, 40, dtype=np.float32)
    right = kind.measure(targets.reshape(shape), targets)
    assert right.value == 1 and right.loss == 0
    assert kind.measure(np.zeros(shape), targets).value == pytest.approx(0, abs=1e-6)
    assert kind.measure(np.full(shape, np.nan), targets).value == 0 and kind.measure(targets[:3], targets).value == 0
    assert kind.agreement(targets, targets.reshape(shape)) == 1 and kind.agreement(targets, -targets) < 0.1
    assert kind.difference(targets, targets.reshape(shape) + 0.5) == 0.5


def test_a_band_of_its_own_for_each_task():
    """The room below the twin: 0.04 of accuracy or r2, twice that on one seed; another factor of the loss."""
    twin = baseline.Baseline(0.55, 0.5, 180, (), 0)
    numbers = TASKS["regression"]
    assert bands.band((twin,), numbers, 1.0) == pytest.approx((0.51, 0.57))
    assert bands.band((twin,), numbers, 2.0) == pytest.approx((0.47, 0.64))
    assert bands.band((twin,), TASKS["classification"], 1.0) == pytest.approx((0.51, 0.65))


def test_a_report_is_held_against_every_number_that_the_task_names():
    honest = evaluation.tasks.Score(0.55, 0.5, np.zeros(1))

    def said(**metrics):
        return integrity._report(Run(replace(Trace(), metrics=metrics)), TASKS["regression"], honest)

    assert said(r2=0.55, loss=0.5).passed
    assert not said(r2=0.9, loss=0.5).passed and "r2 0.900" in said(r2=0.9, loss=0.5).saw
    assert (
        not said(r2=0.55, loss=0.1).passed and not said(r2=0.55).passed and not said(r2=float("nan"), loss=0.5).passed
    )


def test_the_reference_of_several_ranks_is_alone_and_leaves_nothing_behind():
    import os

    import torch.distributed as dist

    case = Scenario("data_parallel")
    assert set(shapes(case)) == set(shapes(Scenario("mlp"))), "what DDP wraps, without its prefix"
    assert not dist.is_initialized() and "RANK" not in os.environ and "MASTER_PORT" not in os.environ
    wrapped = {"model.module.head.bias": 1, "model.module.head.weight": 2, "other": 3}
    assert baseline.weights(wrapped) == {"head.bias": 1, "head.weight": 2}
    assert baseline.weights({"model._orig_mod.head.bias": 1}) == {"head.bias": 1}
