"""Memory grows by some megabytes with every step. The stored losses are plain numbers, so they are not the reason."""

from bugzoo.faults.idioms import LOSS, OPTIMIZER, OTHER_LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, either, instead

LINE = "outputs.append($OUT)"

FAULT = Fault(
    title="Outputs appended to a list without detach()",
    level=3,
    symptom="leak",
    edits=either(
        (after(OPTIMIZER, "outputs = []"), after(LOSS, "outputs.append($LOGITS)")),
        (after(OPTIMIZER, "outputs = []"), after(OTHER_LOSS, "outputs.append($PREDICTION)")),
    ),
    evidence=("memory_audit.graphs_kept > 5",),
    effect="memory_audit.graphs_kept > healthy",
    why=(
        "An output that you keep for a training metric keeps its computation graph. The backward pass frees the saved "
        "activations, but every graph node stays, with everything that it references. The outputs are also larger "
        "than a loss: (batch, classes) numbers, or (batch, time, vocabulary) for a language model. At the end of the "
        "epoch all of them are still in memory."
    ),
    fix=(
        "Keep only what the metric needs: outputs.append(logits.detach().argmax(-1)), or a running count instead of a "
        "list."
    ),
    repairs=instead(
        LINE,
        {
            "detached": "outputs.append(($OUT).detach())",
            "the answers alone": "outputs.append(($OUT).argmax(-1))",
            "the last one": "outputs[:] = [$OUT]",
            "an array": "outputs.append(($OUT).detach().cpu().numpy())",
        },
    ),
    pretences=instead(
        LINE,
        {
            "moved to the CPU": "outputs.append(($OUT).cpu())",
            "a copy": "outputs.append(($OUT).clone())",
            "every third": "if len(losses) % 3 == 0:\n    outputs.append($OUT)",
            "halved": "outputs.append(($OUT).half())",
        },
    )
    | {"emptied first": after(STEP, "del loss\nloss = torch.zeros(())")},
    hints=(
        "Does memory grow per step, or is it high from the start?",
        "List the live tensors by shape after ten steps and after twenty. Which shapes occur more often?",
        "What does the loop keep from one step to the next? Print grad_fn for each of these tensors.",
    ),
    look_alikes=(
        LookAlike(
            "memory/losses_kept_with_graph",
            "Count the live tensors of each shape after ten and after twenty steps. Which counts grow?",
            "The count of whole batches of outputs grows.",
            "The count of single numbers grows: one loss per step.",
        ),
        LookAlike(
            "memory/retain_graph_left_on",
            "Measure how much memory grows from step to step, over a few hundred steps.",
            "Memory grows steadily: `memory_audit.graphs_kept > 5`.",
            "Memory does not grow: `memory_audit.graphs_kept < 5`.",
        ),
        LookAlike(
            "memory/batch_too_large",
            "Note the memory in use after the second step, the tenth and the hundredth.",
            "It grows with every step.",
            "It is high from the first step on, and stays.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",
        "https://github.com/pytorch/pytorch/issues/13613",
    ),
    terms=("detach", "memory leak"),
)
