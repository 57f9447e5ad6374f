"""Evaluation is slower than before and uses far more memory than its batches need. The metrics are the same."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EVAL_MODE, NO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import before, remove

FAULT = Fault(
    title="Missing torch.no_grad() during evaluation",
    level=2,
    symptom="slow",
    edits=remove(NO_GRAD),
    evidence=("retained_graphs.evaluations_with_graph > 0.5",),
    effect="retained_graphs.evaluations_with_graph > healthy",
    why=(
        "model.eval() switches dropout and BatchNorm, but autograd keeps recording the computation graph. Every "
        "activation of the forward pass is kept for a backward() that never comes. So an evaluation batch needs about "
        "as much memory as a training batch, and evaluation batches are often larger. If the loop collects outputs or "
        "losses, the graph of every batch stays in memory."
    ),
    fix="Run the evaluation inside with torch.no_grad() or with torch.inference_mode().",
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
        "What does a forward pass keep in memory, and which later call needs it?",
        "Print the grad_fn of one output of the evaluation. Is the grad_fn None?",
        "Which two switches does an evaluation usually set? Which of the two does this script set?",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "In the evaluation loop, print model.training and the grad_fn of one output.",
            "The model is in eval mode, and the output has a grad_fn.",
            "The model is in train mode, and the output has no grad_fn.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Print the grad_fn of one evaluation output, and the time that one batch takes.",
            "The output has a grad_fn.",
            "The output has no grad_fn, and the time goes into waiting.",
        ),
    ),
    sources=("https://github.com/OpenNMT/OpenNMT-py/issues/1141", "https://github.com/skorch-dev/skorch/issues/218"),
    cause=Cause(either={words.LEAK: {}}),
    terms=("no_grad", "eval mode"),
    beside={
        "mlp": ("loop/stale_gradients",),
        "digits_cnn": ("loop/stale_gradients",),
        "amp_transformer": ("precision/clip_without_unscale",),
    },
)
