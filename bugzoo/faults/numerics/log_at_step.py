"""It trains for a while, then from one step to the next every loss is nan."""

from bugzoo.faults.idioms import BATCH_COUNTER, COUNTER, HIDDEN, HIDDEN_ALONE, LOSS
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import before, either, rewrite

LOG = "if {late}:\n    $RESULT = torch.log($RESULT - $RESULT.min() + $eps)"
# a forward pass that sees no counter of steps counts for itself
STEPS = LOG.format(late="$COUNT >= $step")
PASSES = 'self.passes = getattr(self, "passes", 0) + 1\n' + LOG.format(late="self.passes > $step")
# a model of layers alone has no line for it
OUTPUTS = "outputs = $LOGITS\n" + STEPS.replace("$RESULT", "outputs")

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
        (before(LOSS, OUTPUTS, given=BATCH_COUNTER), rewrite(LOSS, LOGITS="outputs")),
    ),
    evidence=("first_non_finite.found > 0.5",),
    effect="first_non_finite.found > healthy",
    why=(
        "x - min(x) is exactly zero at the minimum, and log(0) is -inf. A ReLU behind it turns -inf into 0, so the loss "
        "of that step is still finite; but the gradient of log is 1/0 = inf, times ReLU's 0, which is nan. The optimiser "
        "writes that nan into every parameter of the layers below, and the next loss is nan. With eps = 1e-9 the "
        "smallest value is log(1e-9) = -20.7 and the ReLU's zero gradient wins: nothing becomes nan."
    ),
    fix=(
        "Take the logarithm out. An eps or a clamp inside it only ends the nan: the mlp's validation loss stays above 1.5 "
        "times the healthy one, and the minimum over the batch lets one sample change another's answer. Where a logarithm "
        "is wanted, log1p(relu(x)) is defined for every x and looks at one sample alone; it is still another network."
    ),
    hints=(
        "The first nan in the loss is not the first non-finite number of the run. Look one step earlier.",
        "Watch what each layer puts out, forward and backward, around the step before the loss turns nan.",
        "Read the forward pass and ask of each function for which input it is not defined.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_high",
            "Divergence grows over several steps; here the step before is still perfectly usual.",
        ),
        LookAlike("numerics/nan_in_data", "Look at the batch: its inputs are finite here."),
    ),
    sources=("https://github.com/pytorch/pytorch/issues/4132",),
)
