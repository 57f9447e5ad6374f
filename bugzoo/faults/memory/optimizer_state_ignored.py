"""The larger model passes forward() and backward() with memory to spare. Training runs out of memory at its first step."""

from bugzoo.faults import words
from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Needs, Param, Swap
from bugzoo.faults.verbs import before, instead

WIDE = "hidden_size = $WIDTH"

FAULT = Fault(
    title="Adam optimizer state does not fit in memory",
    level=2,
    symptom="oom",
    params={"factor": Param(64, 56, 72, "how many times the healthy width")},
    edits=Swap(WIDE, "hidden_size = fold($WIDTH * $factor)", where="self.layer2 = nn.Linear(hidden_size, hidden_size)"),
    needs=Needs(memory_mib=1500),
    not_on={
        "data_parallel": (
            "its processes share the limit, and the system ends them from outside. The operation that failed is "
            "unknown."
        ),
        "regression_mlp": "at 72 times its width of 32, everything fits into the 1500 MiB of the run (measured).",
    },
    evidence=("outcome == out_of_memory", "crash.in_step > 0.5"),
    effect="outcome == out_of_memory",
    why=(
        "Adam keeps two running averages per parameter, each as large as the parameter, and allocates them at its "
        "first step. Weights, gradients and the two averages need four times the memory of the weights. step() needs "
        "temporary memory as well. The forward pass shows one of the four, and backward() the second. Here 0.27 GB of "
        "weights pass both, and need 1.1 GB at step(). Plain SGD keeps no state, and SGD with momentum keeps one "
        "average."
    ),
    fix=(
        "Count 16 bytes per parameter for Adam in float32. Then choose a smaller width or a leaner optimizer, or "
        "shard the optimizer state."
    ),
    repairs=instead(
        WIDE,
        {
            "divided again": "hidden_size = $WIDTH // $factor",
            "never more than": "hidden_size = min($WIDTH, $WIDTH // $factor)",
            "a few pieces": "hidden_size = sum([$WIDTH // $factor // 4] * 4)",
        },
    ),
    pretences={
        "collected first": before(STEP, "import gc\n\ngc.collect()"),
        "parameter by parameter": Swap(
            "torch.optim.Adam($GIVEN, lr=$LR)", "torch.optim.Adam($GIVEN, lr=$LR, foreach=False)"
        ),
        "the error swallowed": Swap("optimizer.step()", "try:\n    optimizer.step()\nexcept RuntimeError:\n    pass"),
        "a smaller batch": Swap("batch_size = $SIZE", "batch_size = $SIZE // 4"),
    },
    hints=(
        "Which call does the traceback end in: the forward pass, backward(), or another call?",
        "Add up the bytes of weights, gradients and activations. What else exists after the first update?",
        "Multiply the number of parameters by 16 bytes. Compare the result with the memory limit of the run.",
    ),
    look_alikes=(
        LookAlike(
            "memory/batch_too_large",
            "Find the call in which the memory runs out. Then try a batch of a quarter of the size.",
            "optimizer.step() runs out of memory, and a smaller batch changes nothing.",
            "The forward pass runs out of memory, and a smaller batch fits.",
        ),
        LookAlike(
            "memory/losses_kept_with_graph",
            "Note the step at which the run fails. Did memory grow from step to step until then?",
            "The run fails at the first step: `outcome == out_of_memory`.",
            "The run fails much later, after steady growth: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/9439",
        "https://github.com/pytorch/pytorch/issues/29198",
    ),
    cause=Cause(words.MEMORY),
    terms=("optimizer state", "OOM (out of memory)"),
)
