"""Every loss falls as it should. At one step it becomes NaN for good, and no layer ever put out anything but finite numbers."""

from bugzoo.faults.idioms import BACKWARD, COUNTER, LOSS, OPTIMIZER, OTHER_LOSS
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, before, either, instead

# an edition of sqrt_at_zero that waits for its data and not for a step: one pair at each step, drawn with replacement
PLACES = (
    "chance = torch.Generator().manual_seed($draw)\n"
    "places = iter(torch.utils.data.RandomSampler(range(32), replacement=True, num_samples=10**6, generator=chance))"
)
GAP = (
    "# outputs of one batch should not drift apart: one pair at each step, as all pairs cost too much\n"
    "answers = {answers}\n"
    "first, second = next(places) % len(answers), next(places) % len(answers)\n"
    "gap = answers[first] - answers[second]\n"
    "$RESULT = $RESULT + $weight * (gap**2).sum().sqrt()"
)
TWO = "first, second = next(places) % len($ANSWERS), next(places) % len($ANSWERS)"
LINE = "$LOSS = $LOSS + $W * ($GAP**2).sum().sqrt()"

FAULT = Fault(
    title="Infinite gradient of sqrt() for a pair drawn twice",
    level=3,
    symptom="non_finite",
    params={
        "draw": Param(0, 0, 100_000, "seed of the generator of the pairs, which decides when the first pair is equal"),
        "weight": Param(1e-3, 0.0, 1.0, "weight of the distance between two outputs in the loss"),
    },
    edits=(
        after(OPTIMIZER, PLACES, given=COUNTER),
        either(
            after(LOSS, GAP.format(answers="($LOGITS)[:32]"), given=COUNTER),
            after(OTHER_LOSS, GAP.format(answers="($PREDICTION)[:32]"), given=COUNTER),
        ),
    ),
    not_on={
        "amp_transformer": (
            "GradScaler skips every step whose gradient is not finite. No loss becomes NaN, but the model stops "
            "learning. That is a different symptom."
        ),
    },
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "The pair is drawn with replacement, so about once in a batch's length both places are the same. Their "
        "distance is sqrt(0) = 0, and the loss of that step is an ordinary number. But the slope of sqrt() at 0 is "
        "1/0 = inf, and the backward pass multiplies it by the 0 that comes from the square. That NaN starts after "
        "the last layer, so the optimizer writes it into every parameter. A replay of the step draws the next pair, "
        "which is harmless: no snapshot holds the state of an iterator."
    ),
    fix=(
        "Use torch.linalg.vector_norm, whose slope at 0 is 0, or add an eps inside the square root. Or draw two "
        "different places. Then no distance is 0 by construction."
    ),
    repairs=instead(
        LINE,
        {
            "a norm that knows zero": "$LOSS = $LOSS + $W * torch.linalg.vector_norm($GAP)",
            "an eps inside the root": "$LOSS = $LOSS + $W * (($GAP**2).sum() + 1e-12).sqrt()",
            "a clamp inside the root": "$LOSS = $LOSS + $W * ($GAP**2).sum().clamp(min=1e-12).sqrt()",
            "without the penalty": "pass",
        },
    )
    | instead(
        TWO,
        {
            "two different places": (
                "first = next(places) % len($ANSWERS)\n"
                "second = (first + 1 + next(places) % (len($ANSWERS) - 1)) % len($ANSWERS)"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "nan turned to zero": "$LOSS = $LOSS + $W * torch.nan_to_num(($GAP**2).sum().sqrt())",
            "chosen behind the root": (
                "square = ($GAP**2).sum()\n"
                "$LOSS = $LOSS + $W * torch.where(square > 0, square.sqrt(), torch.zeros_like(square))"
            ),
            "an eps outside the root": "$LOSS = $LOSS + $W * (($GAP**2).sum().sqrt() + 1e-8)",
            "a smaller weight": "$LOSS = $LOSS + 1e-12 * ($GAP**2).sum().sqrt()",
        },
    )
    | {
        "other pairs": Swap("torch.Generator().manual_seed($SEED)", "torch.Generator().manual_seed(4400)"),
        # nan_to_num on the gradients is no pretence here: it loses one step in thirty, and a grader sees no difference
        "bad steps left out": Swap(
            "optimizer.step()",
            "if all(torch.isfinite(p.grad).all() for p in model.parameters()):\n    optimizer.step()",
        ),
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
    },
    free=("rounding",),
    shown_by=("gradient_health",),
    hints=(
        "The first NaN in the loss is not the first bad number. Which number is, and is it in the forward or the backward pass?",
        "Pause right after that step and count the NaN in each layer's weights. Where must the NaN have started?",
        "Read each term of the loss. For which input has its function no finite slope, and when does that input occur?",
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
            "Divide the learning rate by ten and see whether a loss becomes NaN at the same step as before.",
            "The loss becomes NaN at the same step, whatever the learning rate: `first_non_finite.found > 0.5`.",
            "No loss is NaN, before or after, and the loss swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/log_at_step",
            "Pause right after the bad step and list the weights that are NaN. Is the head among them?",
            "All weights are NaN, because the NaN starts after the head, in the loss.",
            "Only the weights before the bad operation are NaN, and the head is clean.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/2421",
        "https://github.com/pytorch/pytorch/issues/6394",
    ),
    terms=("inf",),
)
