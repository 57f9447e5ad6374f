"""Since the model is kept in half precision the loss is nan after a step or two, at any learning rate."""

from bugzoo.faults.idioms import LEARNING_RATE, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, rewrite

MODEL, READ = "model = Net().to(device).half()", "self.layer1(inputs.half())"

FAULT = Fault(
    title="Parameters and optimiser state in float16",
    level=2,
    symptom="non_finite",
    edits=(Swap("model = Net().to(device)", MODEL), Swap("self.layer1(inputs)", READ)),
    evidence=("scale_watch.half_parameters > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "Adam divides by the root of the mean squared gradient, plus eps = 1e-8 against division by zero. Below 6e-8 float16 "
        "holds no number: eps is rounded to 0, and so is the square of every gradient under 0.0002. What is left is 0/0 or "
        "x/0, and the parameter is nan. A larger eps hides it; updates under a thousandth of a weight are still rounded away."
    ),
    fix="Keep parameters in float32 and compute in half precision under torch.autocast, with a GradScaler for float16.",
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
        "Which is the smallest number that the format of these parameters can hold?",
        "Make one step, and look which parameters are nan and what their gradients were.",
        "Work the optimiser's formula through by hand for a gradient of 0.0001, rounding to this format each time.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Look in which number format the parameters themselves are kept.",
            "In float16.",
            "In float32.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Look whether gradients or parameters are the first to be nan, in the bad step.",
            "The parameters, with finite gradients.",
            "The gradients.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/8860", "https://github.com/afiaka87/glide-finetune/issues/5"),
)
