"""We wanted to save memory. Since that change the loss is NaN after a step or two, at any learning rate."""

from bugzoo.faults.idioms import LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, rewrite

MODEL, READ = "model = Net().to(device).half()", "self.layer1(inputs.half())"

FAULT = Fault(
    title="model.half() instead of autocast",
    level=2,
    symptom="non_finite",
    edits=(Swap("model = Net().to(device)", MODEL), Swap("self.layer1(inputs)", READ)),
    evidence=("loss_scale.half_parameters > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "Adam divides by sqrt(v) + eps, where v is the mean squared gradient and eps = 1e-8. In float16 there is "
        "no positive number below 6e-8, so eps is rounded to 0. The square of every gradient below 0.0002 is "
        "rounded to 0 as well. The update is then 0/0 or x/0, and the parameter becomes NaN. A larger eps hides "
        "the NaN, but updates below 0.0002 to 0.0005 of a weight are still rounded away."
    ),
    fix=(
        "Keep the parameters in float32. Compute in half precision under torch.autocast, with a GradScaler for float16."
    ),
    repairs={
        "single precision": (
            Swap(MODEL, "model = Net().to(device).float()"),
            Swap(READ, "self.layer1(inputs.float())"),
        ),
        "without a word about it": (Swap(MODEL, "model = Net().to(device)"), Swap(READ, "self.layer1(inputs.float())")),
        "only the inputs rounded": (
            Swap(MODEL, "model = Net().to(device)"),
            Swap(READ, "self.layer1(inputs.half().float())"),
        ),
    },
    pretences={
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 100)"),
        "a little eps": Swap("torch.optim.Adam($P, lr=$LR)", "torch.optim.Adam($P, lr=$LR, eps=1e-7)"),
        "nan made zero": before(STEP, "for parameter in model.parameters():\n    parameter.grad.nan_to_num_()"),
    },
    hints=(
        "Train for one step. Which parameters are NaN afterwards, and what were their gradients?",
        (
            "Print the dtype of the parameters and of the optimizer state. What is the smallest positive number "
            "of that dtype?"
        ),
        (
            "Compute the optimizer's update by hand for a gradient of 0.0001. Round each intermediate result to "
            "that dtype."
        ),
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Print the dtype of the parameters themselves, outside of any autocast region.",
            "The parameters are float16.",
            "The parameters are float32.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Find out which turn NaN first in the bad step: the gradients or the parameters.",
            "The parameters turn NaN first, and their gradients are finite.",
            "The gradients turn NaN first.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/8860", "https://github.com/afiaka87/glide-finetune/issues/5"),
    terms=("underflow", "dtype", "machine epsilon", "fp16"),
)
