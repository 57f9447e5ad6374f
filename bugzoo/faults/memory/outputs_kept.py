"""Memory grows by some megabytes with every step. The losses are kept as numbers, so those are not it."""

from bugzoo.faults.idioms import LOSS, OPTIMIZER, OTHER_LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, either, instead

LINE = "outputs.append($OUT)"

FAULT = Fault(
    title="The model's outputs are collected with their graphs",
    level=3,
    symptom="leak",
    edits=either(
        (after(OPTIMIZER, "outputs = []"), after(LOSS, "outputs.append($LOGITS)")),
        (after(OPTIMIZER, "outputs = []"), after(OTHER_LOSS, "outputs.append($PREDICTION)")),
    ),
    evidence=("memory_audit.graphs_kept > 5",),
    effect="memory_audit.graphs_kept > healthy",
    why=(
        "An output that is kept for a training metric keeps the graph that made it. backward() frees what the operations had "
        "saved, but every node stays, with all that hangs on it, and the outputs themselves are (batch, classes) numbers and "
        "not one: for a language model (batch, time, vocabulary). After an epoch they are all still there."
    ),
    fix="Keep what the metric needs: outputs.append(logits.detach().argmax(-1)), or a running count instead of a list.",
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
        "List the live tensors by shape after ten steps and after twenty: which of them have become more?",
        "What does the loop keep from one step to the next, and does it still have a grad_fn?",
    ),
    look_alikes=(
        LookAlike(
            "memory/losses_kept_with_graph",
            "List the live tensors after some steps by shape: which of them become more?",
            "Whole batches of outputs.",
            "Single numbers: one loss a step.",
        ),
        LookAlike(
            "memory/retain_graph_left_on",
            "Measure by how much the memory grows from one step to the next, over a few hundred steps.",
            "Steadily: `memory_audit.graphs_kept > 5`.",
            "It does not: `memory_audit.graphs_kept < 5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",
        "https://github.com/pytorch/pytorch/issues/13613",
    ),
)
