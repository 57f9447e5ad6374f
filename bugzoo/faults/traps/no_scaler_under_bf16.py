"""Mixed precision, and nobody scales the loss. Will the small gradients not be lost?"""

from bugzoo.faults.idioms import BACKWARD, OPTIMIZER, SCALED_BACKWARD, SCALED_STEP, SCALER_UPDATE, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, remove, rewrite

HALF, BRAIN = (
    f"with torch.autocast(device, dtype=torch.{name}):\n    logits = model(inputs)\n"
    for name in ("float16", "bfloat16")
)
TRAINED, JUDGED = "    loss = $LOSS", "summed += $SUM"

FAULT = Fault(
    title="No gradient scaler under bfloat16",
    level=2,
    symptom="none",
    trap=True,
    edits=(
        Swap(HALF + TRAINED, BRAIN + TRAINED),
        Swap(HALF + JUDGED, BRAIN + JUDGED),
        Swap("scaler = torch.amp.GradScaler(device)", ""),
        rewrite(SCALED_BACKWARD, PLACE="$LOSS.backward()"),
        rewrite(SCALED_STEP, PLACE="$OPTIMIZER.step()"),
        remove(SCALER_UPDATE),
    ),
    evidence=(),
    effect="none",
    why=(
        "bfloat16 has the eight exponent bits of float32: its smallest normal number is 1.2e-38, where float16 ends at 6e-8. "
        "No gradient is rounded to zero, so there is nothing to scale. It pays with precision, 8 bits in place of 11, "
        "which autocast meets by keeping weights and sums in float32."
    ),
    fix="Nothing needs repair. A scaler is for float16.",
    repairs={
        "a scaler that is switched off": (
            Swap("step = 0", "scaler = torch.amp.GradScaler(device, enabled=False)\nstep = 0"),
            rewrite(BACKWARD, PLACE="scaler.scale($LOSS).backward()"),
        ),
        "clipping": before(
            STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)"
        ),  # which none is longer than
    },
    pretences={
        "float16 instead": Swap(BRAIN + TRAINED, HALF + TRAINED),
        "the weights as well": before(OPTIMIZER, "model.bfloat16()"),
        "gradients cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-12)"),
    },
    shown_by=("scale_watch",),
    hints=(
        "What is a scaler there for? Say which numbers it saves, and from what.",
        "Count how many elements of the gradient are exactly zero here, and in single precision on the same batch.",
        "Look up the smallest number that the format of the autocast region can hold.",
    ),
    look_alikes=(
        LookAlike(
            "precision/no_grad_scaler",
            "Look which number format the forward pass runs in, and how small its numbers can be.",
            "bfloat16, which goes down to 1e-38: `scale_watch.half_without_scaler < 0.5`.",
            "float16, which ends at 6e-8: `scale_watch.half_without_scaler > 0.5`.",
        ),
        LookAlike(
            "precision/half_parameters",
            "Look at the type of the weights themselves, outside of the autocast region.",
            "float32.",
            "Half precision.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html", "https://arxiv.org/abs/1905.12322"),
)
