"""Training fits into the memory, and the evaluation runs out of it although its batches are no larger. It goes on growing."""

from bugzoo.faults.idioms import EVAL_MODE, NO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead, remove

HOOK = "model.register_forward_hook(lambda *call: answers.append(call[-1]))"

FAULT = Fault(
    title="Answers of the evaluation are collected, each with its graph",
    level=3,
    symptom="leak",
    edits=(remove(NO_GRAD), before(EVAL_MODE, f"answers = []\n{HOOK}")),
    not_on={
        "regression_mlp": "its evaluation is one batch, measured: 1 pass is held.",
        "modular_addition": "its evaluation is one batch in the tiny setting, measured: 1 pass is held.",
        "image_pipeline": "its evaluation is one batch in the tiny setting, measured: 1 pass is held.",
    },
    evidence=("graphs_left.passes > 1.5",),
    effect="graphs_left.held_mib > healthy",
    why=(
        "Without no_grad() every output holds the activations of its forward pass, for a backward() that never comes. One "
        "batch at a time that is the memory of a training step; with the outputs in a list it is that of the whole validation "
        "set at once, and it grows with the number of batches. eval() does not change that: it turns dropout and BatchNorm, "
        "and nothing else."
    ),
    fix="with torch.no_grad(): or torch.inference_mode() around the evaluation; collect outputs.detach().cpu() if at all.",
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
        "When does the memory rise: from step to step, or from batch to batch of the evaluation?",
        "Print of what the evaluation collects whether it has a grad_fn.",
        "Which two switches does an evaluation turn, and what does the list hold if one of them is not?",
    ),
    look_alikes=(
        LookAlike(
            "modes/no_grad_missing",
            "Follow the memory from batch to batch of one evaluation.",
            "It rises with every batch: `graphs_left.passes > 1.5`.",
            "It is high, and stays the same: `graphs_left.passes < 1.5`.",
        ),
        LookAlike(
            "memory/outputs_kept",
            "See whether the memory rises during the training or during the evaluation.",
            "During the evaluation: `memory_audit.graphs_kept < 5`.",
            "During the training: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=(
        "https://github.com/skorch-dev/skorch/issues/218",
        "https://github.com/MarvinLvn/voice-type-classifier/issues/12",
    ),
)
