"""Training takes nearly twice the memory that it should. It does not grow, and nothing seems to be collected."""

from bugzoo.faults.idioms import BACKWARD, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, instead, rewrite

LINE = "$LOSS.backward(retain_graph=True)"

FAULT = Fault(
    title="retain_graph=True, where nothing goes backward a second time",
    level=3,
    symptom="leak",
    edits=rewrite(
        BACKWARD, PLACE=("$SCALER.scale($LOSS).backward(retain_graph=True)", "$LOSS.backward(retain_graph=True)")
    ),
    not_on={"data_parallel": "one of several ranks cannot run its step again, which is how this is seen."},
    evidence=("kept_for_backward.kept_share > 0.5",),
    effect="kept_for_backward.kept_mib > healthy",
    why=(
        "backward() lets go of each operation's activations as soon as it has been through it. With retain_graph=True it keeps "
        "them for another backward(), and they live until `loss` is written over: by then the next forward pass has taken its "
        "own, so that two sets of activations are alive at once. Where losses or states are kept as well, it is one set more "
        "each step."
    ),
    fix="Take retain_graph=True away. What it silences is something carried over from the step before: detach that.",
    repairs=instead(
        LINE,
        {
            "through autograd": "torch.autograd.backward([$LOSS])",
            "said to be false": "$LOSS.backward(retain_graph=False)",
            "a sum of one": "sum([$LOSS]).backward()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "said once more": "$LOSS.backward(retain_graph=True, create_graph=False)",
            "not at the first step": "$LOSS.backward(retain_graph=step > 0)",
            "collected by hand": f"import gc\n\n{LINE}\ngc.collect()",
            "a copy": "$LOSS.clone().backward(retain_graph=True)",
        },
    )
    | {"gradients given back": after(STEP, "optimizer.zero_grad(set_to_none=True)")},
    hints=(
        "Does the memory grow from step to step, or is it high from the second step on?",
        "Who lets go of the activations of a forward pass, and at which moment?",
        "Read what is passed to the call that computes the gradients, and ask whom it serves.",
    ),
    look_alikes=(
        LookAlike(
            "memory/losses_kept_with_graph",
            "Measure by how much the memory grows from one step to the next, over a few hundred steps.",
            "It does not: `memory_audit.graphs_kept < 5`.",
            "Steadily: `memory_audit.graphs_kept > 5`.",
        ),
        LookAlike(
            "memory/batch_too_large",
            "Compare the memory in use behind backward() with that in front of it.",
            "It has hardly fallen.",
            "The activations are gone, as far as it gets.",
        ),
    ),
    sources=(
        "https://github.com/GBLin5566/toward-controlled-generation-of-text-pytorch/issues/9",
        "https://github.com/ChandlerBang/pytorch-gnn-meta-attack/issues/1",
    ),
)
