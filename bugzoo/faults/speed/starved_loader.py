"""Every epoch takes several times as long as the model's arithmetic should need; the losses are what they should be."""

from bugzoo.faults.idioms import LOADER
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, rewrite

FAULT = Fault(
    title="A costly transform in the path of every fetch, and nobody else to do it",
    level=2,
    symptom="slow",
    edits=either(
        Swap(
            "if $KEY not in self.$CACHE:\n    self.$CACHE[$KEY] = $VALUE\nreturn self.$CACHE[$KEY], $LABEL",
            "return $VALUE, $LABEL",
        ),
        rewrite(LOADER, WORKERS="0"),
    ),
    evidence=("step_timeline.data_share > 0.6",),
    effect="step_timeline.data_share > healthy",
    why=(
        "With num_workers=0 the training process itself fetches and transforms each sample, and the model waits. What is "
        "deterministic can be computed once and kept; what is random belongs into workers or onto the device."
    ),
    fix="Compute the costly part once (cache it), move it to worker processes, or to the device in one batch.",
    hints=(
        "Split the time of a step into its parts before you make anything faster.",
        "How long does the loop wait for a batch, compared with forward, backward and update?",
        "Time a single call of the data set's __getitem__.",
    ),
    look_alikes=(
        LookAlike("speed/sync_every_step", "There the time sits in the step itself; here between the steps."),
        LookAlike("speed/anomaly_mode_left_on", "There backward is slow; here nothing of the model is."),
    ),
    sources=("https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html",),
)
