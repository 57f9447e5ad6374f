"""Training fits in memory. During evaluation, memory grows until OOM, although the batches are no larger."""

from bugzoo.faults.idioms import EVAL_MODE, NO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, remove

HOOK = "model.register_forward_hook(lambda *call: answers.append(call[-1]))"

FAULT = Fault(
    title="Missing torch.no_grad() while collecting evaluation outputs",
    level=3,
    symptom="leak",
    edits=(remove(NO_GRAD), before(EVAL_MODE, f"answers = []\n{HOOK}")),
    not_on={
        "regression_mlp": "its evaluation has only one batch, so only one forward pass is held (measured).",
        "modular_addition": (
            "its evaluation has only one batch in the tiny setting, so only one forward pass is held (measured)."
        ),
        "image_pipeline": (
            "its evaluation has only one batch in the tiny setting, so only one forward pass is held (measured)."
        ),
    },
    evidence=("retained_graphs.passes > 1.5",),
    effect="retained_graphs.held_mib > healthy",
    why=(
        "Without no_grad(), every output keeps the activations of its forward pass for a backward() that never comes. "
        "For one batch, that is the memory of a training step. A list of outputs keeps the activations of the whole "
        "validation set, and memory grows with every batch. Calling model.eval() does not help: it only switches "
        "layers such as dropout and batch norm."
    ),
    fix=(
        "Put the evaluation under `with torch.no_grad():` or `with torch.inference_mode():`. If you collect outputs, "
        "store outputs.detach().cpu()."
    ),
    repairs={
        "switched off and on": before(EVAL_MODE, "torch.set_grad_enabled(False)"),
        "no parameter wants one": before(EVAL_MODE, "model.requires_grad_(False)"),
        "inference mode": before(EVAL_MODE, "inference = torch.inference_mode()\ninference.__enter__()"),
    },
    pretences=instead(
        HOOK,
        {
            "moved to the CPU": HOOK.replace("call[-1]", "call[-1].cpu()"),
            "a copy": HOOK.replace("call[-1]", "call[-1].clone()"),
            "the answers alone": HOOK.replace("call[-1]", "call[-1].detach()"),
            "collected by hand": f"import gc\n\n{HOOK}\ngc.collect()",
        },
    )
    | {"eval() twice": before(EVAL_MODE, "model.eval()")},
    hints=(
        "When does memory grow: from step to step of training, or from batch to batch of the evaluation?",
        "Print grad_fn for every tensor that the evaluation stores.",
        "Which two switches does an evaluation need? What does the list hold if the script sets only one of them?",
    ),
    look_alikes=(
        LookAlike(
            "modes/no_grad_missing",
            "Print the memory in use after each batch of one evaluation.",
            "Memory grows with every batch: `retained_graphs.passes > 1.5`.",
            "Memory is high but does not grow: `retained_graphs.passes < 1.5`.",
        ),
        LookAlike(
            "memory/outputs_kept",
            "Check whether memory grows during training or during evaluation.",
            "Memory grows during evaluation: `memory_audit.graphs_kept < 5`.",
            "Memory grows during training: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=(
        "https://github.com/skorch-dev/skorch/issues/218",
        "https://github.com/MarvinLvn/voice-type-classifier/issues/12",
    ),
    terms=("computation graph", "no_grad", "memory leak", "OOM (out of memory)"),
)
