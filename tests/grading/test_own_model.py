"""Where a correct repair may build another model, its steps are repeated in that model, with the healthy loss."""

import ast
from dataclasses import replace

import pytest

from bugzoo.grading import drawing, own_model
from bugzoo.grading.baseline import twin
from bugzoo.grading.isolation import isolate
from bugzoo.grading.loop_body import head
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.runs import job_of, seeded
from bugzoo.grading.seeds_together import status_of
from bugzoo.running import Job, Run, run_worker
from bugzoo.scenario import Scenario
from bugzoo.watching.trace import Trace
from tests.sampling import only_in_prove

CASE = seeded(Scenario("digits_cnn", ("modes/batch_norm_tiny_batches",), {"epochs": 3}), 0)
HEALTHY = CASE.healthy().source
LOSS = "loss = F.cross_entropy(logits, targets)\n"
BACK, MODE = "        loss.backward()\n", "    model.train()\n"
FORWARD = "hidden = self.norm2(self.layer2(hidden))"
GROUPS = [("nn.BatchNorm2d(16)", "nn.GroupNorm(4, 16)"), ("nn.BatchNorm2d(32)", "nn.GroupNorm(4, 32)")]
FROZEN = (MODE, f"{MODE}    model.norm1.eval()\n    model.norm2.eval()\n")

RIGHT = {
    "healthy": [],
    "another model": GROUPS,
    "averages kept": [FROZEN],
    "pieces": [
        (f"        logits = model(inputs)\n        {LOSS}{BACK}",
         "        for part, answers in zip(inputs.split(16), targets.split(16)):\n"
         "            loss = F.cross_entropy(model(part), answers) * len(part) / len(inputs)\n            loss.backward()\n"),
    ],
}  # fmt: skip
WRONG = {
    "another loss at times": (
        [*GROUPS, (LOSS, f"{LOSS}        loss = loss * (1 + 3 * (step % 7 == 2))\n")],
        "gradient",
    ),
    "some let go": (
        [*GROUPS, (BACK, f"{BACK}        model.layer1.weight.grad = [model.layer1.weight.grad, None][step // 60]\n")],
        "gradient",
    ),
    "now and then evaluating": ([*GROUPS, (BACK, f"{BACK}        model.train(step % 5 > 0)\n")], "modes at steps"),
    "cut off by a comment": (
        [
            ("\n# %% Training", ""),
            ("import torch\n", "# %% Training\nimport torch\n"),
            (LOSS, f"{LOSS}        loss = loss * 3\n"),
        ],
        "gradient",
    ),
    "nothing dropped": ([*GROUPS, ("\ndropout = 0.4", "\ndropout = 0.0")], "dropout"),
}


def edited(edits) -> str:
    text = HEALTHY
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def own(text) -> dict[str, str]:
    usual = twin(CASE)
    job = replace(job_of(text, CASE, 60, True), keep_steps=drawing.draw(0, 0, usual.steps), after=None, after_args={})
    checks = own_model.checks(job, run_worker(job), CASE, usual, run_worker)
    assert checks
    return {check.name: check.status for check in checks if not check.passed}


def failed(edits) -> set[str]:
    return set(own(edited(edits)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == "another model" else only_in_prove(name) for name in RIGHT])
def test_a_right_repair_with_another_model_makes_the_same_steps(sandboxed, name):
    assert not failed(RIGHT[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name.startswith("another") else only_in_prove(name) for name in WRONG])
def test_what_is_wrong_beside_the_model_is_seen(sandboxed, name):
    edits, check = WRONG[name]
    assert failed(edits) == {check}


@pytest.mark.slow
def test_a_person_looks_where_the_text_up_to_the_training_builds_no_model(sandboxed):
    early = edited([("\nmodel = ", "\ntorch.ones(1, requires_grad=True).backward()\nmodel = ")])
    assert own(early) == {"steps": FOR_A_PERSON}


def test_a_person_looks_where_no_step_was_kept():
    [check] = own_model.checks(job_of(HEALTHY, CASE, 60, True), Run(Trace()), CASE, twin(CASE), run_worker)
    assert check.status == FOR_A_PERSON == status_of([check]) and check.saw and check.expected
    assert status_of([check, replace(check, status="wrong")]) == "wrong"


def test_the_training_is_found_by_the_syntax_tree():
    texts = {
        "loop": "model = 1\nfor x in y:\n    loss.backward()",
        "function": "def go():\n    (loss * 2).backward()\nmodel = 1\nfor x in y:\n    go()",
        "closure": "def again():\n    loss.backward()\nmodel = 1\noptimizer.step(again)",
        "class": "class T:\n    def fit(self):\n        loss.backward()\nmodel = 1\nT().fit()",
        "grad": "model = 1  # %% Training\nfor x in y:\n    a = torch.autograd.grad(loss, w)",
    }
    for name, text in texts.items():
        beginning = head(f"# %% Training\n{text}\nlast = 2\n")
        assert beginning is not None and beginning.endswith("model = 1"), name
    assert head("model = 1  # loss.backward()") is None


def test_no_catalogue_comes_into_the_sandbox_with_it(sandboxed):
    text = "import sys\nprint(sorted(name for name in sys.modules if name.startswith('bugzoo')))\n"
    run = run_worker(isolate(Job(text, after="bugzoo.grading.own_step:repeat", quiet=True)))
    rooms = {name.split(".")[1] for name in ast.literal_eval(run.stdout) if "." in name}
    assert "grading" in rooms and not {"faults", "programs", "scenario", "injection"} & rooms


def test_nothing_runs_where_the_healthy_model_can_repeat_the_steps():
    case = seeded(Scenario("mlp", ("loss/double_softmax",)), 0)
    job = job_of(case.healthy().source, case, 60, True)
    assert own_model.checks(job, run_worker(replace(job, source="x = 1")), case, twin(case), run_worker) == []
