"""Every program in the sandbox: it trains on the same data as outside, and works out none of the grader's examples."""

import numpy as np
import pytest

from bugzoo import programs
from bugzoo.grading import evaluation, reference, salt
from bugzoo.grading.isolation import isolate
from bugzoo.running import Job, Limits, Run, run_worker
from bugzoo.scenario import Scenario
from tests.sampling import only_in_prove

BY_A_RULE = ("modular_addition",)
"""Programs whose targets follow from the inputs."""
SHARE = {"word_lines": 0.35, "sentiment_lstm": 0.1, "sequence_classifier": 0.1}
"""Most of the targets that are found, of all. A held-out line of `word_lines` keeps its first words, and short reviews are
drawn twice by chance."""
GRADED = [name for name in programs.names() if "held_out" in programs.load(name).facts]


def inside(scenario: Scenario, source: str, **more) -> Run:
    limits = Limits(seconds=180, result_mib=512)
    job = Job(source, ranks=scenario.ranks, limits=limits, **more)
    run = run_worker(isolate(job, reference.unseen(scenario)))
    assert run.outcome == "finished" and not run.trouble, (run.trouble, run.trace.error, run.stdout[-2000:])
    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", [one if one == "sequence_classifier" else only_in_prove(one) for one in GRADED])
def test_a_healthy_program_does_the_same_in_the_sandbox(name, sandboxed):
    scenario = Scenario(name, size="tiny")
    source = scenario.source
    within = inside(scenario, source, export=("model",))
    without = run_worker(Job(source, ranks=scenario.ranks, limits=Limits(seconds=180), export=("model",)))
    assert len(within.trace.loss) and within.trace.loss.tolist() == without.trace.loss.tolist()
    assert within.trace.metrics == without.trace.metrics
    assert all((within.arrays[part] == value).all() for part, value in without.arrays.items())


REPLAYED = """
from torch import stack

def each(prepare, images):
    return stack([prepare(image) for image in images])

torch.manual_seed({seed} + {shift})
asked, answers = {held_out}
"""


def replayed(name: str, secret: str) -> float:
    """The share of the grader's targets that a submission finds which draws as the grader does, from what it can read."""
    scenario = Scenario(name)
    head = scenario.source.split("# %% Training")[0]
    held_out = programs.load(name).facts["held_out"]
    source = head + REPLAYED.format(seed=scenario.seed, shift=evaluation.SHIFT, held_out=held_out)
    with salt.used(secret):
        inputs, targets = reference.questions(scenario)
    run = inside(scenario, source, export=("asked", "answers"), watch=False)
    examples, answers = run.arrays["asked"], run.arrays["answers"]
    assert examples.shape[1:] == inputs.shape[1:] and answers.shape[1:] == targets.shape[1:]
    return found(inputs, targets, examples, answers)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", GRADED)
def test_whoever_replays_the_graders_draw_gets_other_examples(name, sandboxed):
    """Program, seed and expression are public, and so is this attack."""
    share = replayed(name, "a secret")
    assert share == 1.0 if name in BY_A_RULE else share <= SHARE.get(name, 0.0), share


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["sentiment_lstm", "sequence_classifier"])
def test_without_a_salt_a_generated_review_is_known_with_its_label(name, sandboxed):
    """What the salt is for: the test above can fail."""
    assert replayed(name, "") > 0.99


def found(inputs: np.ndarray, targets: np.ndarray, drawn: np.ndarray, answers: np.ndarray) -> float:
    """The share of the targets that whoever looks an example up by its inputs gets right; of lines, word by word."""
    if (targets < 0).any():
        return float((targets == answers)[targets >= 0].mean())
    catalogue = {row.tobytes(): answer.tobytes() for row, answer in zip(drawn, answers, strict=True)}
    matches = [catalogue.get(row.tobytes()) == answer.tobytes() for row, answer in zip(inputs, targets, strict=True)]
    return float(np.mean(matches))


def test_the_lines_that_are_replaced_are_those_that_the_grader_asks_for():
    scenario = Scenario("word_lines")
    names = reference.space(reference.healthy_text(scenario), scenario.program)
    questions, _ = reference.questions(scenario)
    assert (names["encode"](names["lines"][-evaluation.LINES :])[0].numpy() == questions).all()
    assert [bool(reference.unseen(Scenario(name))) for name in ("word_lines", "mini_transformer", "mlp")] == [
        True,
        False,
        False,
    ]
