"""The script sets a seed, but two runs still differ. The initial weights are the same each time."""

from bugzoo.faults.idioms import PAIRS
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before, instead

DRAWN = "train = train[np.random.permutation(len(train))]"

FAULT = Fault(
    title="Missing np.random.seed() next to torch.manual_seed()",
    level=4,
    symptom="drift",
    edits=(
        Swap("import torch", "import numpy as np\nimport torch"),
        before(PAIRS, "$ORDER = $ORDER[np.random.permutation(len($ORDER))]"),
    ),
    evidence=("determinism.first_difference > 0.5",),
    effect="determinism.first_difference > healthy",
    why=(
        "torch.manual_seed() seeds torch alone. NumPy's global generator has its own state, which a new process takes "
        "from the operating system. The order that NumPy draws decides which samples share a batch, from the first "
        "batch on. The initial weights come from torch and are the same in each run, so the script looks seeded."
    ),
    fix=(
        "Call np.random.seed(seed) too: seed every library that draws random numbers (random, numpy, torch). Or draw "
        "from one generator that you pass around."
    ),
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
        "Run the script twice and compare what exists before the first step: the weights and the first batch.",
        "List every library that draws random numbers here. Where does each library get its state?",
        "Read the lines between the seed and the training loop. Which draw does the seed not reach?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Save the weights of two runs before the first step, and compare them.",
            "The weights are the same, but the first batch differs.",
            "The weights already differ.",
        ),
        LookAlike(
            "resume/generator_not_restored",
            "Run the script twice without stopping. At which step do the losses of the two runs first differ?",
            "The losses differ at the very first step: `determinism.first_difference > 0.5`.",
            "The losses never differ: `determinism.first_difference < 0.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/notes/randomness.html",
        "https://tanelp.github.io/posts/a-bug-that-plagues-thousands-of-open-source-ml-projects/",
    ),
    terms=("generator", "seed"),
)
