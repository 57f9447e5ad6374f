"""Every step begins with a pause, and it is twice as long when the batch is. The loader has the batch ready by then."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

ZERO = "optimizer.zero_grad()"
BATCH = "$INPUTS, $TARGETS = $VALUE.to(device), $TARGETS.to(device)"
TWICE = "$INPUTS, $TARGETS = $VALUE.clone().to(device, copy=True), $TARGETS.clone().to(device, copy=True)"

FAULT = Fault(
    title="Each batch is copied twice before the model gets it",
    level=3,
    symptom="slow",
    edits=either(
        Swap(f"{BATCH}\n{ZERO}", f"{TWICE}\n{ZERO}"),
        Swap(f"{ZERO}\n{BATCH}", f"{ZERO}\n{TWICE}"),
    ),
    not_on={"data_parallel": "one of several ranks cannot run its step again, which is how this is seen."},
    evidence=("transfers.batch_copies > 1.5",),
    effect="transfers.batch_copies > healthy",
    why=(
        "clone() makes a second batch in ordinary memory, and copy=True a third, also where the tensor is on the device "
        "already. To a GPU the first one costs twice: the driver can fetch by itself only what is pinned, so that a batch in "
        "ordinary memory goes through a staging buffer, and Python waits meanwhile. The clone of a pinned batch is no longer "
        "pinned. It all happens before the device has anything to do."
    ),
    fix="Move the batch once. For a GPU: pin_memory=True in the loader, and .to(device, non_blocking=True).",
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
        "What does the time in front of the forward pass grow with?",
        "Profile one step and look for copies: how many are there of a batch's size?",
        "Read what happens to a batch between the loader and the model, call by call.",
    ),
    look_alikes=(
        LookAlike(
            "speed/starved_loader",
            "Measure how long the loop waits for a batch, and count how often it is copied then.",
            "The batch is there and is copied: `transfers.batch_copies > 1.5`, `step_timeline.data_share < 0.6`.",
            "It waits: `transfers.batch_copies < 1.5`, `step_timeline.data_share > 0.6`.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Count the copies of a batch's size, and the numbers that are fetched in a step.",
            "Two copies: `transfers.batch_copies > 1.5`, `fetched_numbers.fetched < 4.5`.",
            "A number for every parameter: `transfers.batch_copies < 1.5`, `fetched_numbers.fetched > 4.5`.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html",
        "https://github.com/pytorch/pytorch/issues/39694",
    ),
)
