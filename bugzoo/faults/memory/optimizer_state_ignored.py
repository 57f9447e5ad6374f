"""One batch went through the new size forwards and backwards, and there was room left. The training ends at its first step."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Needs, Param, Swap
from bugzoo.faults.verbs import before, instead

WIDE = "hidden_size = $WIDTH"

FAULT = Fault(
    title="A model that fits, without what its optimiser keeps",
    level=2,
    symptom="oom",
    params={"factor": Param(64, 56, 72, "how many times the healthy width")},
    edits=Swap(WIDE, "hidden_size = fold($WIDTH * $factor)", where="self.layer2 = nn.Linear(hidden_size, hidden_size)"),
    needs=Needs(memory_mib=1500),
    not_on={
        "data_parallel": (
            "its processes share the limit, and what they take together is ended from outside: at which operation cannot be told."
        ),
        "regression_mlp": "at 72 times its width of 32 all of it fits into the 1500 MiB that the run gets, measured.",
    },
    evidence=("outcome == out_of_memory", "crash.in_step > 0.5"),
    effect="outcome == out_of_memory",
    why=(
        "Adam keeps two running means for every parameter, in the parameter's own size, and makes them at its first step. "
        "Weights, gradients and these two are four times the weights, and the step needs room for its own results besides. A "
        "forward pass shows one of the four and backward() the second: here 0.27 GB of weights pass both and want 1.1 GB at "
        "the step. Plain SGD keeps nothing, SGD with momentum one."
    ),
    fix="Count 16 bytes for each parameter under Adam in float32; then choose the width, a leaner optimiser, or shard its state.",
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
        "Which call does the traceback end in: the forward pass, backward(), or another one?",
        "Add up the bytes: weights, gradients, activations. What else is there once the first step is made?",
        "Multiply the number of parameters by 16 bytes, and compare with what the run may have.",
    ),
    look_alikes=(
        LookAlike(
            "memory/batch_too_large",
            "Read in which call the memory runs out, and whether a batch of a quarter changes it.",
            "In the optimiser's step, and a smaller batch changes nothing.",
            "In the forward pass, and a smaller batch fits.",
        ),
        LookAlike(
            "memory/losses_kept_with_graph",
            "See at which step it fails, and whether the memory has grown from step to step until then.",
            "At the first one: `outcome == out_of_memory`.",
            "Much later, and after a steady growth: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/9439",
        "https://github.com/pytorch/pytorch/issues/29198",
    ),
)
