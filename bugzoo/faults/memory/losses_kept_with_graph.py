"""Memory grows with every step until the machine runs out, hours into a run that began without trouble."""

from bugzoo.faults.idioms import ITEM_APPEND
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

KEPT = "losses.append($VALUE)"

FAULT = Fault(
    title="Losses are collected together with their graphs",
    level=2,
    symptom="leak",
    edits=rewrite(ITEM_APPEND, NUMBER="$LOSS"),
    evidence=("memory_audit.graphs_kept > 5",),
    effect="memory_audit.graphs_kept > healthy",
    why=(
        "A loss tensor holds on to the graph that computed it. backward() frees the saved activations, but the nodes, "
        "and whatever else hangs on them, live as long as the tensor does. A list of losses keeps them all."
    ),
    fix="Store numbers: losses.append(loss.item()), or loss.detach() where a device synchronisation would cost time.",
    repairs=instead(
        KEPT,
        {
            "detached": "losses.append(($VALUE).detach())",
            "a float": "losses.append(float($VALUE))",
            "an array": "losses.append(($VALUE).detach().numpy())",
        },
    ),
    pretences=instead(
        KEPT,
        {
            "every third": f"if step % 3 == 0:\n    {KEPT}",
            "a copy": "losses.append(($VALUE).clone())",
            "the half of it": "losses.append(0.5 * ($VALUE))",
            "removed from sight": f"{KEPT}\ndel loss",
        },
    ),
    hints=(
        "Does memory grow per step, or is it high from the start?",
        "Count the live tensors that have a grad_fn after each step.",
        "What does the loop keep from one step to the next, and what is each of these things?",
    ),
    look_alikes=(
        LookAlike(
            "memory/outputs_kept",
            "List the live tensors after some steps by shape: which of them become more?",
            "Single numbers: one loss a step.",
            "Whole batches of outputs.",
        ),
        LookAlike(
            "memory/retain_graph_left_on",
            "Measure by how many bytes the memory grows from one step to the next.",
            "By little: the nodes of one graph.",
            "By all that one forward pass saves.",
        ),
        LookAlike(
            "memory/batch_too_large",
            "See at which step it fails, and whether the memory has grown from step to step until then.",
            "Late, after a steady growth: `memory_audit.graphs_kept > 5`.",
            "At the first step: `outcome == out_of_memory`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",),
)
