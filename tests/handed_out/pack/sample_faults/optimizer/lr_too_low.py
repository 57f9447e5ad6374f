"""The loss creeps down and would need days."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, Param
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="Learning rate far too low",
    level=1,
    symptom="plateau",
    params={"factor": Param(0.001, 1e-6, 0.5, "how many times the healthy learning rate")},
    edits=rewrite(LEARNING_RATE, LR="fold($LR * $factor)"),
    evidence=("gradient_health.update_ratio < 1e-4",),
    effect="loss_curve.final_loss > healthy",
    why="Each step goes in the right direction by next to nothing.",
    fix="Find the largest rate at which the loss still falls and take a third of it.",
    hints=("How far does one step go?", "Compare updates with parameters.", "Which number scales the step?"),
    sources=("https://arxiv.org/abs/1506.01186",),
)
