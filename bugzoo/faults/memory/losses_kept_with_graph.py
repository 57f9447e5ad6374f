"""The run starts without trouble. Memory grows with every step, and hours later the run is out of memory."""

from bugzoo.faults.idioms import ITEM_APPEND
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

KEPT = "losses.append($VALUE)"

FAULT = Fault(
    title="Missing .item() in losses.append(loss)",
    level=2,
    symptom="leak",
    edits=rewrite(ITEM_APPEND, NUMBER="$LOSS"),
    evidence=("memory_audit.graphs_kept > 5",),
    effect="memory_audit.graphs_kept > healthy",
    why=(
        "A loss tensor keeps its computation graph alive. The backward pass frees the saved activations, but the "
        "graph nodes stay, with everything that they reference. A list of loss tensors keeps all of these graphs."
    ),
    fix="Store numbers: losses.append(loss.item()). Use loss.detach() where a host sync would cost time.",
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
        "Which objects does the loop keep from one step to the next? Print the type of each.",
    ),
    look_alikes=(
        LookAlike(
            "memory/outputs_kept",
            "Count the live tensors of each shape after ten and after twenty steps. Which counts grow?",
            "The count of single numbers grows: one loss per step.",
            "The count of whole batches of outputs grows.",
        ),
        LookAlike(
            "memory/retain_graph_left_on",
            "Measure how many bytes memory grows by in each of the first ten steps.",
            "Memory grows a little at every step, by the nodes of one graph.",
            "Memory grows once, by all that one forward pass saves.",
        ),
        LookAlike(
            "memory/batch_too_large",
            "Note the step at which the run fails. Did memory grow from step to step until then?",
            "The run fails late, after steady growth: `memory_audit.graphs_kept > 5`.",
            "The run fails at the first step: `outcome == out_of_memory`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",),
    terms=("computation graph", "memory leak"),
)
