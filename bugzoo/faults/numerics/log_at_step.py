"""Training goes well for a while. Then, from one step to the next, every loss is NaN."""

from bugzoo.faults import words
from bugzoo.faults.idioms import BACKWARD, BATCH_COUNTER, COUNTER, EVAL_MODE, HIDDEN, HIDDEN_ALONE, LOSS, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, either, instead, rewrite

# the comment is the reason that the author of such a line had; layout and comments do not count in the ledger
LOG = (
    "# log scale, so that small activations count, too; after a warm-up of $step steps, as it hurt at the start\n"
    "if {late}:\n"
    "    $RESULT = torch.log($RESULT - $RESULT.min() + $eps)"
)
# a forward pass that cannot see the step counter counts its own calls
STEPS = LOG.format(late="$COUNT >= $step")
PASSES = '$SELF.passes = getattr($SELF, "passes", 0) + 1\n' + LOG.format(late="$SELF.passes > $step")
# a model that is only a list of layers has no line to edit: change its logits instead
OUTPUTS = "outputs = $LOGITS\n" + STEPS.replace("$RESULT", "outputs")

LINE = "$HIDDEN = torch.log($HIDDEN - $HIDDEN.min() + $EPS)"
BLOCK = f"if $LATE:\n    {LINE}"

FAULT = Fault(
    title="log(0) in the forward pass",
    level=2,
    symptom="non_finite",
    params={
        "step": Param(50, 0, 100_000, "number of optimizer steps before the log() starts"),
        "eps": Param(0.0, 0.0, 1.0, ("added inside log(): 0 gives log(0), and 1e-9 stays finite when a ReLU follows")),
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
        "x - x.min() is exactly 0 at the minimum, and log(0) is -inf. The ReLU after it turns -inf into 0, so the "
        "loss of that step is still finite. In the backward pass, the ReLU's gradient of 0 is multiplied by the "
        "slope of log(), 1/0 = inf, which gives NaN. The optimizer writes that NaN into the layers before it, and "
        "the next loss is NaN. Only units that were off for that sample are spared: a ReLU's backward pass writes "
        "0 there, whatever arrives. With eps = 1e-9 the smallest value is log(1e-9) = -20.7 and the ReLU's zero "
        "gradient wins: nothing becomes NaN."
    ),
    fix=(
        "Remove the logarithm. An eps or a clamp inside the log() only ends the NaN. Measured on a plain perceptron "
        "(`mlp`), the validation loss then stays above 1.5 times the healthy one. The minimum over the batch also lets "
        "one sample change the output of another. If you want a logarithm, log1p(relu(x)) is defined for every x and "
        "uses one sample alone. The result is still a different network, and on `digits_cnn` and `modular_addition` a clearly "
        "worse one: the grader refuses it there."
    ),
    repairs=instead(
        LINE,
        {
            "rectified already here": "$HIDDEN = F.relu($HIDDEN)",
            "softplus": "$HIDDEN = F.softplus($HIDDEN)",
            "an argument above one": "$HIDDEN = torch.log(1 + torch.exp($HIDDEN))",
        },
    )
    | instead(BLOCK, {"taken out": "", "never reached": f"if step < 0:\n    {LINE}"}),
    by_counter=("never reached",),
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
        "The first NaN in the loss is not the first number that is not finite. Look one step earlier.",
        "Around that step, check the output of each layer and the gradient of each layer. Which is bad first?",
        (
            "Read forward(). For which input is each function undefined? Can its dtype hold each constant? Does "
            "the network need the function at all?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Divide the learning rate by ten and see whether a loss becomes NaN at the same step as before.",
            "The loss becomes NaN at the same step, whatever the learning rate: `first_non_finite.found > 0.5`.",
            "No loss is NaN, before or after, and the loss swings less: `first_non_finite.found < 0.5`.",
        ),
        LookAlike(
            "numerics/nan_in_data",
            "Check the inputs of the first bad batch for NaN and inf, before the model sees them.",
            "All inputs are finite.",
            "One input is not finite.",
        ),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/4132",),
    # an eps that float32 rounds to 0: then the dtype is as wrong as the log()
    cause=Cause(either={words.DTYPE: {"eps": (0, 7e-46)}}),
    terms=("NaN", "inf"),
)
