"""Two runs of the same script give different numbers. I cannot tell whether a change helped."""

from bugzoo.faults.idioms import SEED
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import either, instead, remove, rewrite

FAULT = Fault(
    title="Missing torch.manual_seed()",
    level=1,
    symptom="drift",
    edits=either(rewrite(SEED, PLACE="$TORCH.seed()"), remove(SEED)),
    evidence=("determinism.first_difference > 0.5",),
    effect="determinism.first_difference > healthy",
    why=(
        "Initial weights, batch order and dropout all come from random generators. Without a fixed seed, each run is "
        "another sample. Differences of a percent between two runs then mean nothing."
    ),
    fix=(
        "Call torch.manual_seed(seed) before the first draw, seed every other generator that the run uses, and report "
        "several seeds."
    ),
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
        "Run the script twice. From which step on do the losses differ?",
        "The losses differ from the first step. What is random before that step?",
        "List every source of random numbers. Where does each source get its starting state?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/one_generator_unseeded",
            "Save the weights of two runs before the first step, and compare them.",
            "The weights already differ.",
            "The weights are the same, but the first batch differs.",
        ),
        LookAlike(
            "reproducibility/nondeterministic_kernel",
            "Run the script twice. How large is the first difference between the two losses?",
            "The difference is as large as between two seeds.",
            "The difference is about a ten-millionth.",
        ),
        LookAlike(
            "modes/dropout_in_functional_form",
            "Save the weights of one run, and evaluate the model twice.",
            "Both numbers are the same: the runs differ in their weights.",
            "The two numbers differ, with the same weights.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
    terms=("seed",),
    beside={"mlp": ("loss/double_softmax",)},
)
