"""There is a seed in the script, and two runs still differ. The initial weights are the same each time."""

from bugzoo.faults.idioms import PAIRS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead

DRAWN = "train = train[np.random.permutation(len(train))]"

FAULT = Fault(
    title="Torch is seeded, and numpy is not",
    level=4,
    symptom="drift",
    edits=(
        Swap("import torch", "import numpy as np\nimport torch"),
        before(PAIRS, "$ORDER = $ORDER[np.random.permutation(len($ORDER))]"),
    ),
    evidence=("determinism.first_difference > 0.5",),
    effect="determinism.first_difference > healthy",
    why=(
        "torch.manual_seed seeds torch. numpy's global generator has a state of its own, which a fresh process takes from the "
        "operating system. The order that it draws decides which samples meet in a batch, from the first one on; the weights "
        "come from torch and are the same in each run, which makes the script look seeded."
    ),
    fix="Seed every library that draws (random, numpy, torch), or draw from one generator that is handed around.",
    repairs=instead(
        DRAWN,
        {
            "numpy seeded": f"np.random.seed(seed)\n{DRAWN}",
            "a generator of its own": "train = train[np.random.default_rng(seed).permutation(len(train))]",
            "torch's": "train = train[torch.randperm(len(train))]",
        },
    ),
    pretences=instead(
        DRAWN,
        {
            "torch seeded again": f"torch.manual_seed(seed)\n{DRAWN}",
            "Python's generator": f"import random\n\nrandom.seed(seed)\n{DRAWN}",
            "seeded too late": f"{DRAWN}\nnp.random.seed(seed)",
            "a new generator": "train = train[np.random.default_rng().permutation(len(train))]",
        },
    ),
    hints=(
        "Run it twice, and compare what there is before the first step: weights, and the first batch.",
        "List every library that draws random numbers here. Where does each one get its state from?",
        "Look at the lines between the seed and the loop for a draw that the seed does not reach.",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Keep the weights of two runs before the first step, and compare them.",
            "They are the same, and the first batch is not.",
            "They differ already.",
        ),
        LookAlike(
            "resume/generator_not_restored",
            "Run it twice without any stop, and see at which step the losses of the two runs differ first.",
            "At the very first: `determinism.first_difference > 0.5`.",
            "At none: `determinism.first_difference < 0.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/randomness.html",
        "https://tanelp.github.io/posts/a-bug-that-plagues-thousands-of-open-source-ml-projects/",
    ),
)
