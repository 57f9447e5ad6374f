"""Two runs of the same script give different numbers, and nobody can tell whether a change helped."""

from bugzoo.faults.idioms import SEED
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import either, remove, rewrite

FAULT = Fault(
    title="Random numbers without a seed",
    level=1,
    symptom="drift",
    edits=either(rewrite(SEED, PLACE="$TORCH.seed()"), remove(SEED)),
    evidence=("determinism.first_difference > 0.5",),
    effect="determinism.first_difference > healthy",
    why=(
        "Initial weights, the order of the batches and dropout all come from generators. Without a fixed seed each run is "
        "another sample, and differences of a percent between two of them mean nothing."
    ),
    fix="Seed every generator that the run uses before the first draw, and report several seeds.",
    hints=(
        "Run it twice. From which step on do the losses differ?",
        "They differ from the first step: what is random before it?",
        "List the sources of random numbers and where each gets its seed.",
    ),
    look_alikes=(
        LookAlike("reproducibility/one_generator_unseeded", "There the first step agrees and the data differ later."),
        LookAlike("reproducibility/nondeterministic_kernel", "There the difference begins at about 1e-7."),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
)
