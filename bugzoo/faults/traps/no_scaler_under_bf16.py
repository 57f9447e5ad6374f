"""The script uses mixed precision without scaling the loss. Do the small gradients underflow?"""

from bugzoo.faults.idioms import BACKWARD, OPTIMIZER, SCALED_BACKWARD, SCALED_STEP, SCALER_UPDATE, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, remove, rewrite

HALF, BRAIN = (
    f"with torch.autocast(device, dtype=torch.{name}):\n    logits = model(inputs)\n"
    for name in ("float16", "bfloat16")
)
TRAINED, JUDGED = "    loss = $LOSS", "summed += $SUM"

FAULT = Fault(
    title="bfloat16 autocast without a GradScaler",
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
        "bfloat16 has eight exponent bits, as many as float32. The smallest normal number of bfloat16 is 1.2e-38, "
        "and that of float16 6.1e-5 (with subnormals, 6e-8). No gradient underflows to zero, so there is "
        "nothing to scale. bfloat16 pays with "
        "precision: 8 bits in place of 11. Autocast makes up for that by keeping weights and sums in float32."
    ),
    fix="Nothing needs repair. A GradScaler is for float16.",
    repairs={
        "a scaler that is switched off": (
            Swap("step = 0", "scaler = torch.amp.GradScaler(device, enabled=False)\nstep = 0"),
            rewrite(BACKWARD, PLACE="scaler.scale($LOSS).backward()"),
        ),
        "clipping": before(
            STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)"
        ),  # no gradient norm is above 0.1
    },
    pretences={
        "float16 instead": Swap(BRAIN + TRAINED, HALF + TRAINED),
        "the weights as well": before(OPTIMIZER, "model.bfloat16()"),
        "gradients cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-12)"),
    },
    shown_by=("loss_scale",),
    hints=(
        "Which numbers does loss scaling protect, and from what?",
        "Count the gradient elements that are exactly zero, here and in float32 on the same batch.",
        "Look up the smallest number that the dtype of the autocast region can hold.",
    ),
    look_alikes=(
        LookAlike(
            "precision/no_grad_scaler",
            "Look up the dtype of the forward pass and the smallest number that it can hold.",
            "The dtype is bfloat16, which goes down to 1e-38: `loss_scale.half_without_scaler < 0.5`.",
            "The dtype is float16, which ends at 6e-8: `loss_scale.half_without_scaler > 0.5`.",
        ),
        LookAlike(
            "precision/half_parameters",
            "Print the dtype of the weights, outside the autocast region.",
            "The weights are float32.",
            "The weights are float16.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html", "https://arxiv.org/abs/1905.12322"),
    terms=("bf16", "autocast"),
)
