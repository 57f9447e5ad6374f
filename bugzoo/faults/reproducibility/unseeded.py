"""Two runs of the same script give different numbers, and nobody can tell whether a change helped."""

from bugzoo.faults.idioms import SEED
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import either, instead, remove, rewrite

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
    repairs=instead(
        "torch.seed()",
        {
            "seeded after all": "torch.seed()\ntorch.manual_seed(seed)",
            "the generator itself": "torch.default_generator.manual_seed(seed)",
            "a state": "torch.set_rng_state(torch.Generator().manual_seed(seed).get_state())",
        },
    ),
    pretences=instead(
        "torch.seed()",
        {
            "Python's generator": "import random\n\nrandom.seed(seed)",
            "NumPy's generator": "import numpy\n\nnumpy.random.seed(seed)",
            "kernels only": "torch.use_deterministic_algorithms(True)",
            "a seed of today": "torch.manual_seed(torch.seed() % 2**31)",
        },
    ),
    hints=(
        "Run it twice. From which step on do the losses differ?",
        "They differ from the first step: what is random before it?",
        "List the sources of random numbers and where each gets its seed.",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/one_generator_unseeded",
            "Run it twice, and see at which step the losses of the two runs differ first.",
            "At the very first.",
            "Later: the weights were the same.",
        ),
        LookAlike(
            "reproducibility/nondeterministic_kernel",
            "Run it twice, and see how large the first difference of the two losses is.",
            "As large as between two seeds.",
            "About a ten-millionth.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
)
