"""It trains for a while, then from one step to the next every loss is nan."""

from bugzoo.faults.idioms import BACKWARD, BATCH_COUNTER, COUNTER, EVAL_MODE, HIDDEN, HIDDEN_ALONE, LOSS, STEP
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, either, instead, rewrite

LOG = "if {late}:\n    $RESULT = torch.log($RESULT - $RESULT.min() + $eps)"
# a forward pass that sees no counter of steps counts for itself
STEPS = LOG.format(late="$COUNT >= $step")
PASSES = '$SELF.passes = getattr($SELF, "passes", 0) + 1\n' + LOG.format(late="$SELF.passes > $step")
# a model of layers alone has no line for it
OUTPUTS = "outputs = $LOGITS\n" + STEPS.replace("$RESULT", "outputs")

LINE = "$HIDDEN = torch.log($HIDDEN - $HIDDEN.min() + $EPS)"
BLOCK = f"if $LATE:\n    {LINE}"

FAULT = Fault(
    title="Logarithm that meets zero after some steps",
    level=2,
    symptom="non_finite",
    params={
        "step": Param(50, 0, 100_000, "optimiser steps that are done before the logarithm sets in"),
        "eps": Param(0.0, 0.0, 1.0, "added inside the logarithm; 0 is log(0), 1e-9 stays finite behind a ReLU"),
    },
    edits=either(
        before(HIDDEN_ALONE, STEPS, given=COUNTER),
        (before(HIDDEN, "$RESULT = $INPUT\n" + STEPS, given=COUNTER), rewrite(HIDDEN, INPUT="$RESULT")),
        before(HIDDEN_ALONE, PASSES),
        (before(HIDDEN, "$RESULT = $INPUT\n" + PASSES), rewrite(HIDDEN, INPUT="$RESULT")),
        (before(LOSS, OUTPUTS, given=BATCH_COUNTER), rewrite(LOSS, LOGITS="outputs", given=BATCH_COUNTER)),
    ),
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "x - min(x) is exactly zero at the minimum, and log(0) is -inf. A ReLU behind it turns -inf into 0, so the loss "
        "of that step is still finite; but the gradient of log is 1/0 = inf, times ReLU's 0, which is nan. The optimiser "
        "writes that nan into the layers below, into all but the units that were off for that sample (a ReLU's backward pass "
        "writes 0 there, whatever arrives), and the next loss is nan. With eps = 1e-9 the "
        "smallest value is log(1e-9) = -20.7 and the ReLU's zero gradient wins: nothing becomes nan."
    ),
    fix=(
        "Take the logarithm out. An eps or a clamp inside it only ends the nan: the mlp's validation loss stays above 1.5 "
        "times the healthy one, and the minimum over the batch lets one sample change another's answer. Where a logarithm "
        "is wanted, log1p(relu(x)) is defined for every x and looks at one sample alone; it is still another network."
    ),
    repairs=instead(
        LINE,
        {
            "log1p": "$HIDDEN = torch.log1p(F.relu($HIDDEN))",
            "an odd logarithm": "$HIDDEN = $HIDDEN.sign() * torch.log1p($HIDDEN.abs())",
            "rectified already here": "$HIDDEN = F.relu($HIDDEN)",
            "softplus": "$HIDDEN = F.softplus($HIDDEN)",
            "an argument above one": "$HIDDEN = torch.log(1 + torch.exp($HIDDEN))",
        },
    )
    | instead(BLOCK, {"taken out": "", "never reached": f"if step < 0:\n    {LINE}"}),
    pretences=instead(
        LINE,
        {
            "nan turned to zero": f"{LINE}\n$HIDDEN = torch.nan_to_num($HIDDEN, neginf=0.0)",
            "an eps": LINE.replace("$EPS", "1e-9"),
            "a larger eps": LINE.replace("$EPS", "1e-3"),
            "a clamp": "$HIDDEN = torch.log(($HIDDEN - $HIDDEN.min()).clamp(min=1e-6))",
        },
    )
    | instead(BLOCK, {"put off": f"if step >= 4400:\n    {LINE}"})
    | {
        "gradients mended": before(
            STEP,
            "for parameter in model.parameters():\n    parameter.grad = torch.nan_to_num(parameter.grad, 0.0, 0.0, 0.0)",
        ),
        "bad steps left out": Swap(
            "optimizer.step()",
            "if all(torch.isfinite(p.grad).all() for p in model.parameters()):\n    optimizer.step()",
        ),
        "loss mended": before(BACKWARD, "loss = torch.nan_to_num(loss)"),
        "early stop": before(BACKWARD, "if step >= $step:\n    break"),
        "at the end only": Swap(BLOCK, f"if step >= epochs * len(train_loader):\n    {LINE}"),
        "weights of before": (
            Swap(
                "losses.append(loss.item())",
                "losses.append(loss.item())\nif step == fold($step - 1):\n"
                "    kept = {name: value.clone() for name, value in model.state_dict().items()}",
            ),
            before(EVAL_MODE, "model.load_state_dict(kept)\nstep = 0"),
        ),
    },
    room=2.0,  # with log1p(relu(x)) a network learns a little more slowly than without any logarithm
    own_forward=True,
    shown_by=("replay", "gradient_health"),
    hints=(
        "The first nan in the loss is not the first number that is not finite. Look one step earlier.",
        "Watch what each layer hands on, forwards and backwards, around that step.",
        "Read the forward pass: for which input is each function not defined, can its tensor hold each constant, and does "
        "this network need it at all?",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Lower the learning rate by ten and see whether a loss is lost at the same step as before.",
            "At the same step, whatever the rate: `first_non_finite.found > 0.5`.",
            "None is lost, before and after, it swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/nan_in_data",
            "Look for numbers that are not finite in the inputs of the batch where it sets in.",
            "All inputs are finite.",
            "One of them is not.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/4132",),
)
