"""In half precision the loss stays where it began, although the same run in single precision learns."""

from bugzoo.faults.idioms import SCALED_BACKWARD, SCALED_STEP, SCALER_UPDATE, UNSCALE
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import either, nothing, remove, rewrite

FAULT = Fault(
    title="float16 autocast without a gradient scaler",
    level=3,
    symptom="stuck",
    edits=(
        rewrite(SCALED_BACKWARD, PLACE="($LOSS).backward()"),
        rewrite(SCALED_STEP, PLACE="$OPTIMIZER.step()"),
        remove(SCALER_UPDATE),
        either(remove(UNSCALE), nothing),
    ),
    evidence=("scale_watch.half_without_scaler > 0.5", "scale_watch.underflow_share > 0.1"),
    effect="loss_curve.final_loss > healthy",
    why=(
        "float16 holds no positive number below 2**-24, about 6e-8. Small gradients inside the autocast region are "
        "rounded to zero there, and no learning rate brings them back. A scaler multiplies the loss first, so that "
        "gradients travel in the range that float16 has, and divides before the step."
    ),
    fix="torch.amp.GradScaler around backward and step; or bfloat16, which has the exponent range of float32.",
    hints=(
        "Ask which numbers can be written in the precision of this run, and which gradients occur in it.",
        "Count, per layer, the gradient elements that are exactly zero, here and in single precision.",
        "Compare the three lines after the loss with the recipe for mixed precision in PyTorch's documentation.",
    ),
    look_alikes=(
        LookAlike("optimizer/lr_too_low", "With a low rate the gradients are there; here many are exactly zero."),
        LookAlike("freezing/frozen_layers", "Frozen parameters have no gradient at all (None) rather than zeros."),
    ),
    sources=("https://pytorch.org/docs/stable/notes/amp_examples.html",),
)
