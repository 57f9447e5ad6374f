"""Memory grows with every step until the machine runs out, hours into a run that began without trouble."""

from bugzoo.faults.idioms import ITEM_APPEND
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import rewrite

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
    hints=(
        "Does memory grow per step, or is it high from the start?",
        "Count the live tensors that have a grad_fn after each step.",
        "What does the loop keep from one step to the next, and what is each of these things?",
    ),
    look_alikes=(
        LookAlike(
            "memory/retain_graph_left_on", "There the saved activations stay as well; growth per step is far larger."
        ),
        LookAlike(
            "memory/outputs_kept", "There it is the outputs that are kept; look at the shapes of the live tensors."
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",),
)
