"""Evaluation is slower than it was and takes far more memory than its batches need; the numbers are the same."""

from bugzoo.faults.idioms import EVAL_MODE, NO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, remove

FAULT = Fault(
    title="Evaluation that builds the graph for a backward pass",
    level=2,
    symptom="slow",
    edits=remove(NO_GRAD),
    evidence=("evaluation_graph.kept > 0.5",),
    effect="evaluation_graph.kept > healthy",
    why=(
        "eval() turns dropout and BatchNorm, and nothing else: autograd goes on recording. Every activation of the forward pass "
        "is kept for a backward() that never comes, so that an evaluation batch costs about as much memory as a training batch, "
        "and evaluation batches are often larger. Where outputs or losses are collected, every batch's graph stays."
    ),
    fix="with torch.no_grad(): or torch.inference_mode() around the evaluation.",
    repairs={
        "switched off and on": before(EVAL_MODE, "torch.set_grad_enabled(False)"),
        "no parameter wants one": before(EVAL_MODE, "model.requires_grad_(False)"),
        "inference mode": before(EVAL_MODE, "inference = torch.inference_mode()\ninference.__enter__()"),
    },
    pretences={
        "eval() twice": before(EVAL_MODE, "model.eval()"),
        "gradients cleared first": before(EVAL_MODE, "model.zero_grad(set_to_none=True)"),
        "around eval() alone": before(EVAL_MODE, "with torch.no_grad():\n    model.eval()"),
    },
    hints=(
        "What does a forward pass have to keep, and for whom?",
        "Print of an output of the evaluation whether it has a grad_fn.",
        "Which two switches does an evaluation turn, and which of them is turned here?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Print in the evaluation loop: model.training, and whether an output has a grad_fn.",
            "The mode is right, the outputs have one.",
            "The mode is wrong, the outputs have none.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Print of an output of the evaluation whether it has a grad_fn, and how long a batch takes.",
            "It has one.",
            "It has none, and the time is lost in waiting.",
        ),
    ),
    sources=("https://github.com/OpenNMT/OpenNMT-py/issues/1141", "https://github.com/skorch-dev/skorch/issues/218"),
)
