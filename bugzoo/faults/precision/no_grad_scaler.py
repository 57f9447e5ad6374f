"""In mixed precision the loss stays at its starting value. The same run in float32 learns."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LEARNING_RATE, SCALED_BACKWARD, SCALED_STEP, SCALER_UPDATE, STEP, UNSCALE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, either, nothing, remove, rewrite

HALF = "with torch.autocast(device, dtype=torch.float16):\n    logits = model(inputs)\n    $LOSS = $VALUE"
SUM = '$LOSS = F.cross_entropy($LOGITS, $TARGETS, reduction="sum") / tokens_per_update'
BACK, STEPS = "$LOSS.backward()", "$OPTIMIZER.step()"
SCALED = Swap(BACK, "scaler.scale($LOSS).backward()"), Swap(STEPS, "scaler.step($OPTIMIZER)\nscaler.update()")
WHOLE = Swap(HALF, HALF.replace("dtype=torch.float16", "enabled=False"))
EACH = "for parameter in model.parameters():\n    parameter.grad"

FAULT = Fault(
    title="float16 autocast without GradScaler",
    level=4,
    symptom="stuck",
    edits=(
        rewrite(SCALED_BACKWARD, PLACE="($LOSS).backward()"),
        rewrite(SCALED_STEP, PLACE="$OPTIMIZER.step()"),
        remove(SCALER_UPDATE),
        either(remove(UNSCALE), nothing),
    ),
    evidence=("loss_scale.half_without_scaler > 0.5", "loss_scale.underflow_share > 0.1"),
    effect="loss_curve.final_loss > healthy",
    why=(
        "float16 holds no positive number below 2**-24, about 6e-8. Smaller gradients inside the autocast region "
        "underflow to zero, and no learning rate brings them back. GradScaler multiplies the loss before "
        "backward(), so that the gradients stay in the range of float16. Then scaler.step() divides the gradients "
        "by the same loss scale before the update."
    ),
    fix=(
        "Use torch.amp.GradScaler around backward() and step(). Or use bfloat16, which has the exponent range of "
        "float32."
    ),
    repairs={
        "bfloat16": Swap(HALF, HALF.replace("float16", "bfloat16")),
        "single precision": WHOLE,
        "constant factor": Swap(BACK, f"($LOSS * 2.0**16).backward()\n{EACH} /= 2.0**16"),
        "mean over the batch": (
            *SCALED,
            Swap(SUM, SUM.replace('reduction="sum") / tokens_per_update', 'reduction="mean")')),
            Swap("losses.append(loss.item() * tokens_per_update / targets.numel())", "losses.append(loss.item())"),
        ),
        "asked for in single precision": (
            WHOLE,
            Swap(
                BACK,
                "gradients = torch.autograd.grad($LOSS, list(model.parameters()))\n"
                "for parameter, gradient in zip(model.parameters(), gradients):\n    parameter.grad = gradient",
            ),
        ),
        "scaler with unscale": (
            Swap(BACK, "scaler.scale($LOSS).backward()\nscaler.unscale_(optimizer)"),
            SCALED[1],
        ),
    },
    pretences={
        "higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 10)"),
        "larger eps": Swap("torch.optim.Adam($P, lr=$LR, eps=$EPS)", "torch.optim.Adam($P, lr=$LR, eps=1e-8)"),
        "gradients stretched afterwards": before(STEP, f"{EACH} *= 1000"),
        "a scaler that scales by one": (
            Swap("torch.amp.GradScaler(device)", "torch.amp.GradScaler(device, init_scale=1.0)"),
            *SCALED,
        ),
        "only the loss in single precision": Swap(
            HALF.replace("$VALUE", "F.cross_entropy($LOGITS, $$$REST) / $N"),
            "with torch.autocast(device, dtype=torch.float16):\n    logits = model(inputs)\n"
            "$LOSS = F.cross_entropy($LOGITS.float(), $$$REST) / $N",
        ),
        "mended, and the report written by hand": (
            *SCALED,
            Swap('{"loss": $L, "accuracy": $A}', '{"loss": $L, "accuracy": 0.9}'),
        ),
    },
    ignore=(
        "loss_scale",
        "initial_loss",
        "output_gradient",
    ),  # they report a constant loss scale, which is a correct repair
    free=("length",),
    shown_by=("gradient_health", "replay"),
    hints=(
        "Count, layer by layer, the gradient elements that are exactly zero. How many are zero in a float32 run?",
        (
            "Print the dtype of the logits and the size of the gradients. What is the smallest positive number of "
            "that dtype?"
        ),
        "Compare the lines from the loss to the optimizer step with the recipe in PyTorch's AMP notes.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Count the gradient elements that are exactly zero, here and in a float32 run.",
            "Many elements are zero here, and hardly any in float32.",
            "Hardly any elements are zero in either run.",
        ),
        LookAlike(
            "freezing/frozen_layers",
            "For the parameters that do not change, check whether they have a .grad at all.",
            "The .grad is a tensor of zeros: `parameter_audit.frozen_share < 0.3`.",
            "The parameters have no .grad: `parameter_audit.frozen_share > 0.3`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/amp_examples.html",),
    cause=Cause(
        either={words.LOSS_SCALE: {}},
        explains=("optimizer/lr_too_low", "numerics/", "initialisation/", "optimizer/lr_too_high"),
    ),
    terms=("GradScaler", "autocast", "fp16", "underflow"),
    beside={"amp_transformer": ("freezing/frozen_layers",)},
)
