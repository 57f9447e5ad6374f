"""Every step begins with a pause, twice as long for a batch twice as large. The loader has the batch ready by then."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

ZERO = "optimizer.zero_grad()"
BATCH = "$INPUTS, $TARGETS = $VALUE.to(device), $TARGETS.to(device)"
TWICE = "$INPUTS, $TARGETS = $VALUE.clone().to(device, copy=True), $TARGETS.clone().to(device, copy=True)"

FAULT = Fault(
    title="Extra clone() and copy=True on every batch",
    level=3,
    symptom="slow",
    edits=either(
        Swap(f"{BATCH}\n{ZERO}", f"{TWICE}\n{ZERO}"),
        Swap(f"{ZERO}\n{BATCH}", f"{ZERO}\n{TWICE}"),
    ),
    not_on={"data_parallel": "the check re-runs one training step, and one of several ranks cannot do that alone."},
    evidence=("transfers.batch_copies > 1.5",),
    effect="transfers.batch_copies > healthy",
    why=(
        "clone() creates a second batch in ordinary memory. copy=True creates a third, even if the tensor is already "
        "on the device. A GPU pays twice for the clone. The driver can fetch only pinned memory by itself, so a batch "
        "in ordinary memory goes through a staging buffer while Python waits. The clone of a pinned batch is not "
        "pinned. All of this happens before the device has any work."
    ),
    fix="Move the batch once. For a GPU, use pin_memory=True in the DataLoader and .to(device, non_blocking=True).",
    repairs=instead(
        TWICE,
        {
            "moved once": "$INPUTS, $TARGETS = $VALUE.to(device), $TARGETS.to(device=device)",
            "not waited for": "$INPUTS, $TARGETS = $VALUE.to(device, non_blocking=True), $TARGETS.to(device, non_blocking=True)",
            "in two lines": "$INPUTS = $VALUE.to(device)\n$TARGETS = $TARGETS.to(device)",
        },
    ),
    pretences=instead(
        TWICE,
        {
            "without a graph": TWICE.replace(".clone()", ".detach().clone()"),
            "twice, not waited for": TWICE.replace("copy=True", "non_blocking=True, copy=True"),
            "under no_grad": "with torch.no_grad():\n    " + TWICE,
            "two clones": TWICE.replace(".to(device, copy=True)", ".to(device).clone()"),
        },
    ),
    hints=(
        "What does the time before the forward pass grow with?",
        "Profile one step. How many tensors of the batch's size are created before the forward pass?",
        "Read what happens to a batch between the DataLoader and the model, call by call.",
    ),
    look_alikes=(
        LookAlike(
            "speed/starved_loader",
            "Measure how long the loop waits for a batch, and count the copies of each batch.",
            (
                "Each batch is copied twice: `transfers.batch_copies > 1.5`. The loop hardly waits: "
                "`step_timeline.data_share < 0.6`."
            ),
            (
                "Each batch is copied once at most: `transfers.batch_copies < 1.5`. The loop waits for it: "
                "`step_timeline.data_share > 0.6`."
            ),
        ),
        LookAlike(
            "speed/sync_every_step",
            "Count the copies of each batch, and the values that one step reads back.",
            (
                "Each batch is copied twice: `transfers.batch_copies > 1.5`. The step reads back few values: "
                "`host_syncs.syncs < 4.5`."
            ),
            (
                "Each batch is copied once at most: `transfers.batch_copies < 1.5`. The step reads back one value per "
                "parameter: `host_syncs.syncs > 4.5`."
            ),
        ),
        LookAlike(
            "speed/recompiles",
            "Time the work of a step before the forward pass and from there on, at a hundred steps.",
            "The time before the forward pass is long at every step.",
            "A few steps are long from the forward pass on, and the others are not.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html",
        "https://github.com/pytorch/pytorch/issues/39694",
    ),
    terms=("pinned memory", "throughput"),
)
