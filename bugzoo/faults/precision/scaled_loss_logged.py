"""The training loss starts at three hundred thousand, but validation says that the model is as good as ever."""

from bugzoo.faults import words
from bugzoo.faults.idioms import SCALED_BACKWARD
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead, rewrite

MADE, BEGUN = "scaler = torch.amp.GradScaler(device)", "$LOSS = scaler.scale($LOSS)\n$LOSS.backward()"
LOGGED = "losses.append(loss.item() * tokens_per_update / targets.numel())"

FAULT = Fault(
    title="Loss logged after scaler.scale(loss)",
    level=3,
    symptom="degraded",
    edits=rewrite(SCALED_BACKWARD, PLACE="$LOSS = $SCALER.scale($LOSS)\n$LOSS.backward()"),
    evidence=("kept_losses.ratio > 100",),
    effect="kept_losses.kept_first > healthy",
    why=(
        "scaler.scale(loss) returns the loss times the loss scale, 65,536 at first, and the script stores the "
        "result as `loss`. The gradients are divided again before the step, so the model learns as it should. The "
        "logged number is not divided. The curve looks like divergence, and it halves or doubles with the loss "
        "scale. Early stopping, checkpoint selection and spike detection then follow the loss scale, not the "
        "loss."
    ),
    fix="Keep the loss under its own name and log that one. Call backward() on scaler.scale(loss).",
    repairs=instead(
        BEGUN,
        {
            "a name of its own": "scaled = scaler.scale($LOSS)\nscaled.backward()",
            "by autograd": "torch.autograd.backward(scaler.scale($LOSS))",
            "the gradient is scaled": "$LOSS.backward(scaler.scale(torch.ones_like($LOSS)))",
        },
    ),
    pretences={
        "a smaller factor": Swap(MADE, "scaler = torch.amp.GradScaler(device, init_scale=2.0**12)"),
        "detached": Swap(LOGGED, LOGGED.replace("loss.item()", "loss.detach().float().item()")),
        "smoothed": Swap(LOGGED, f"{LOGGED}\nlosses[-1] = sum(losses[-5:]) / len(losses[-5:])"),
        "rounded": Swap(LOGGED, f"{LOGGED}\nlosses[-1] = round(losses[-1], 1)"),
    },
    hints=(
        "Take the first number of the plot. What should it be for a model that guesses among 96 characters?",
        "Divide the logged number by the expected one. Do you know the quotient?",
        "Take the variable that is logged at the end of a step. Find the line that assigned it last.",
    ),
    look_alikes=(
        LookAlike(
            "initialisation/confident_head",
            "Compute the loss of the first batch by hand from the logits, and compare.",
            "The computed loss is that of guessing.",
            "The computed loss is as large as the logged one.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Compare the validation loss with the training log. Do both say that the model is bad?",
            "Validation is as good as ever, and only the training log is off.",
            "Validation is as bad as the training log.",
        ),
    ),
    sources=(
        "https://github.com/fastai/fastai/pull/3049",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/2564",
        "https://github.com/meta-pytorch/tnt/pull/354",
    ),
    cause=Cause(words.LOSS_SCALE, also=("loss scaling", "gradscaler"), either={words.METRIC: {}}),
    terms=("loss scale",),
)
