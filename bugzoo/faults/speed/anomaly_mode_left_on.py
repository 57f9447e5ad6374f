"""Each step takes about twice as long as last week. Nothing was changed but what helped to find a NaN, and that was mended."""

from bugzoo.faults.idioms import BACKWARD, OPTIMIZER, STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, before, instead

LINE = "torch.autograd.set_detect_anomaly(True)"

FAULT = Fault(
    title="Anomaly mode, switched on for a search and never off",
    level=3,
    symptom="slow",
    edits=before(OPTIMIZER, LINE),
    evidence=("backward_checks.checked_share > 0.5",),
    effect="backward_checks.checked_share > healthy",
    why=(
        "In anomaly mode every operation of the forward pass notes its Python stack, and every operation of the backward pass "
        "has its result searched for NaN, which on a GPU is a wait for the device each time. The losses are the same to the "
        "last bit, and the cost is there at every step: on small layers, where Python is most of the time, a step takes about "
        "twice as long."
    ),
    fix=(
        "Take the switch away; where a NaN is looked for, put `with torch.autograd.detect_anomaly():` around that one step."
    ),
    repairs=instead(
        LINE,
        {
            "switched off": "torch.autograd.set_detect_anomaly(False)",
            "where it is asked for": "import os\n\ntorch.autograd.set_detect_anomaly('SEARCH_FOR_NAN' in os.environ)",
            "around nothing": "with torch.autograd.detect_anomaly():\n    pass",
        },
    ),
    pretences=instead(
        LINE,
        {
            "without the search for NaN": "torch.autograd.set_detect_anomaly(True, check_nan=False)",
            "a warning less": f"import warnings\n\nwarnings.simplefilter('ignore')\n{LINE}",
            "another switch": f"{LINE}\ntorch.set_flush_denormal(True)",
        },
    )
    | {
        "off for the backward pass": (
            before(BACKWARD, "torch.autograd.set_detect_anomaly(False)"),
            after(STEP, "torch.autograd.set_detect_anomaly(True)"),
        ),
    },
    hints=(
        "The losses are the same as before, to the last bit. What can cost time and change no number?",
        "Profile a few steps: how much of a step is spent outside of the operations of the network?",
        "Which global switches of autograd are set before the training, and who still needs them?",
    ),
    look_alikes=(
        LookAlike(
            "speed/starved_loader",
            "Measure how the time of a step is shared by forward pass, backward pass and the wait.",
            "Forward and backward pass take most of it: `backward_checks.checked_share > 0.5`.",
            "Nearly all of it is waiting: `step_timeline.data_share > 0.6`.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Count the numbers that a step fetches from the device and the lines that it prints.",
            "One, as usual: `fetched_numbers.fetched < 4.5`.",
            "Many: `fetched_numbers.fetched > 4.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/autograd.html#anomaly-detection",
        "https://github.com/yenchenlin/nerf-pytorch/issues/42",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/17359",
    ),
)
