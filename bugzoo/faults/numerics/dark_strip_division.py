"""We corrected for the light on one side. The loss becomes NaN in the first epoch, with another seed at another step."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, LEARNING_RATE, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead, rewrite

# nothing is set to nan by hand: two of the 1437 digits have no stroke on the right, and 0/0 is NaN
STRIP = (
    "# the lamp of the scanner is weaker on the right: bring that strip of each image to full brightness\n"
    "rest, strip = inputs.view(-1, 8, 8).split((5, 3), dim=2)\n"
    "strip = strip / strip.amax((1, 2), keepdim=True)\n"
    "inputs = torch.cat((rest, strip), dim=2).view_as(inputs)"
)
LINE = "strip = strip / strip.amax((1, 2), keepdim=True)"


def first(layer: str) -> Swap:
    """Write it before the first layer of a program whose images are digits."""
    return Swap(layer, f"{STRIP}\n{layer}", where="images = $MADE")


FAULT = Fault(
    title="Black strip divided by its brightest pixel",
    level=3,
    symptom="non_finite",
    edits=first("hidden = F.relu(self.layer1(inputs))"),
    not_on={
        "digits_cnn": "its images are normalized before the model gets them. Black is not 0 there, and no loss becomes NaN.",
        "image_pipeline": "its images are enlarged and not 8 x 8 pixels.",
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "Two digits are so narrow that they have no stroke in the right three columns. There the brightest pixel is 0, so "
        "all of them become 0/0 = NaN. The first batch with such a digit makes the loss NaN, then every gradient, and after "
        "that step every weight. The seed decides the order of the images, and so the step. The stored images are finite: "
        "the NaN is made in the forward pass. With one seed in twenty both digits are held out, and only the validation "
        "loss is NaN."
    ),
    fix=(
        "Divide by max(brightest, eps), or leave a black strip as it is. Then look for the first value that is not finite "
        "inside the forward pass, not only in the data."
    ),
    repairs=instead(
        LINE,
        {
            "never less than an eps": "strip = strip / strip.amax((1, 2), keepdim=True).clamp(min=1e-6)",
            "an eps beside the brightest": "strip = strip / (strip.amax((1, 2), keepdim=True) + 1e-6)",
            "black by one": (
                "brightest = strip.amax((1, 2), keepdim=True)\n"
                "strip = strip / torch.where(brightest > 0, brightest, torch.ones_like(brightest))"
            ),
            # 0/0 is the only division here that is not finite, and the weights come later: a black strip stays black
            "black stays black": "strip = torch.nan_to_num(strip / strip.amax((1, 2), keepdim=True))",
            "without the correction": "pass",
        },
    ),
    pretences=instead(
        LINE,
        {
            "an eps too small for its format": "strip = strip / (strip.amax((1, 2), keepdim=True) + 1e-50)",
            "brightest of the column": "strip = strip / strip.amax(1, keepdim=True)",
        },
    )
    | {
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
        "gradients mended": before(
            STEP,
            "for parameter in model.parameters():\n    parameter.grad = torch.nan_to_num(parameter.grad, 0.0, 0.0, 0.0)",
        ),
        "a lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
        "cut short": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    },
    shown_by=("replay",),
    hints=(
        "Change the seed: does the loss break at the same step? Set the learning rate to zero: does it still break?",
        "Take the batch of the first bad step, and find the samples whose logits are NaN. Do the same with another seed.",
        "Look at that sample. Which part of it is special, and which line computes with that part alone?",
    ),
    look_alikes=(
        LookAlike(
            "numerics/nan_in_data",
            "Check the inputs of the first bad batch for NaN and inf, before the model sees them.",
            "All inputs are finite.",
            "One input is not finite.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Set the learning rate to zero. Does a loss still become NaN?",
            "A loss still becomes NaN, at the batches with such a digit: `first_non_finite.found > 0.5`.",
            "No loss becomes NaN: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/sqrt_at_zero",
            "Look at the forward pass of the first bad step. Is each activation of each layer finite?",
            "The first layer already puts out NaN, for one sample.",
            "All activations are finite, and the gradient is not.",
        ),
    ),
    sources=(
        "https://www.tensorflow.org/api_docs/python/tf/image/per_image_standardization",
        "https://karpathy.github.io/2019/04/25/recipe/",
    ),
    cause=Cause(either={words.NORMALIZATION: {}}),
    terms=("NaN",),
    beside={"checkpointed_mlp": ("traps/clipping_bites_rarely",)},
)
