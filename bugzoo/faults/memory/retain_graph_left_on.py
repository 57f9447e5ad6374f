"""Training needs almost twice the expected memory. Memory does not grow, and no list collects tensors."""

from bugzoo.faults.idioms import BACKWARD, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, instead, rewrite

LINE = "$LOSS.backward(retain_graph=True)"

FAULT = Fault(
    title="Unnecessary retain_graph=True in backward()",
    level=3,
    symptom="leak",
    edits=rewrite(
        BACKWARD, PLACE=("$SCALER.scale($LOSS).backward(retain_graph=True)", "$LOSS.backward(retain_graph=True)")
    ),
    not_on={"data_parallel": "the check re-runs one training step, and one of several ranks cannot do that alone."},
    evidence=("retain_graph.kept_share > 0.5",),
    effect="retain_graph.kept_mib > healthy",
    why=(
        "backward() frees the activations of each operation as soon as it has used them. With retain_graph=True it "
        "keeps them for another backward(). The activations then live until `loss` is overwritten. By then the next "
        "forward pass has stored its own, so two sets of activations are alive at once. If losses or states are kept "
        "as well, each step adds one more set."
    ),
    fix=(
        "Remove retain_graph=True. If backward() then raises an error, a tensor is carried over from the step before: "
        "detach that tensor."
    ),
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
        "Does memory grow from step to step, or is it high from the second step on?",
        "Which call frees the activations of a forward pass, and when?",
        "Read the arguments of the call that computes the gradients. Which later line needs each of them?",
    ),
    look_alikes=(
        LookAlike(
            "memory/losses_kept_with_graph",
            "Measure how much memory grows from step to step, over a few hundred steps.",
            "Memory does not grow: `memory_audit.graphs_kept < 5`.",
            "Memory grows steadily: `memory_audit.graphs_kept > 5`.",
        ),
        LookAlike(
            "memory/batch_too_large",
            "Compare the memory in use before backward() with the memory after it.",
            "Memory has hardly fallen after backward().",
            "The activations are freed, if the run gets past backward().",
        ),
    ),
    sources=(
        "https://github.com/GBLin5566/toward-controlled-generation-of-text-pytorch/issues/9",
        "https://github.com/ChandlerBang/pytorch-gnn-meta-attack/issues/1",
    ),
    terms=("retain_graph",),
)
