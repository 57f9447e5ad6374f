"""Each step takes about twice as long as last week. Since then only a NaN was searched for and fixed."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, OPTIMIZER, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import after, before, instead

LINE = "torch.autograd.set_detect_anomaly(True)"

FAULT = Fault(
    title="set_detect_anomaly(True) left on after debugging",
    level=3,
    symptom="slow",
    edits=before(OPTIMIZER, LINE),
    evidence=("backward_checks.checked_share > 0.5",),
    effect="backward_checks.checked_share > healthy",
    why=(
        "In anomaly mode, every operation of the forward pass records its Python stack. Every operation of the "
        "backward pass has its result checked for NaN, which is a host sync each time on a GPU. The losses are the "
        "same to the last bit, but every step pays the cost. With small layers, where Python takes most of the time, "
        "a step takes about twice as long."
    ),
    fix="Remove the call. To search for a NaN, put `with torch.autograd.detect_anomaly():` around that one step.",
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
        "Profile a few steps. How much of a step is spent outside the operations of the model?",
        "Which global autograd switches does the script set before training? Which of them does training need?",
    ),
    look_alikes=(
        LookAlike(
            "speed/starved_loader",
            "Time the forward pass, the backward pass and the wait for a batch within one step.",
            "The forward and backward passes take most of the time: `backward_checks.checked_share > 0.5`.",
            "The wait for a batch takes almost all of the time: `step_timeline.data_share > 0.6`.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Count the values that one step reads back from the device, and the lines that it prints.",
            "The step reads back one value, as usual: `host_syncs.syncs < 4.5`.",
            "The step reads back many values: `host_syncs.syncs > 4.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/autograd.html#anomaly-detection",
        "https://github.com/yenchenlin/nerf-pytorch/issues/42",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/17359",
    ),
    cause=Cause(words.UNNECESSARY),
    terms=("anomaly mode",),
)
