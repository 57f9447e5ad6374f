"""Dropout and augmentation are there, and training and validation look as if they were not. Every run is the same, at least."""

from bugzoo.faults.idioms import SEED, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import before, instead

LINE = "torch.manual_seed(seed)\noptimizer.zero_grad()"

FAULT = Fault(
    title="The seed is set again at every step",
    level=3,
    symptom="degraded",
    edits=before(ZERO_GRAD, "$TORCH.manual_seed($SEED)", given=SEED),
    not_on={"data_parallel": "one of several ranks cannot run its step again, which is how this is seen."},
    evidence=("fresh_noise.seeded > 0.5",),
    effect="fresh_noise.seeded > healthy",
    why=(
        "A seed sets the generator back to its beginning. Set before every step it gives each of them the same random numbers: "
        "dropout leaves out the same units of the same places for ever, a sampler draws the same noise, and because the loader "
        "draws its order from the same generator, every epoch from the second on comes in one and the same order. What was to "
        "be noise is a fixed mask."
    ),
    fix="Seed once, before the first draw. What must be the same at each step gets a generator of its own.",
    repairs=instead(
        LINE,
        {
            "another seed each step": "torch.manual_seed(seed + 1 + step)\noptimizer.zero_grad()",
            "at the first step": "if step == 0:\n    torch.manual_seed(seed)\noptimizer.zero_grad()",
            "a generator of its own": "own = torch.Generator().manual_seed(seed)\noptimizer.zero_grad()",
        },
    ),
    pretences=instead(
        LINE,
        {
            "behind it": "optimizer.zero_grad()\ntorch.manual_seed(seed)",
            "another seed": "torch.manual_seed(seed + 1)\noptimizer.zero_grad()",
            "all generators": "import random\n\nrandom.seed(seed)\ntorch.manual_seed(seed)\noptimizer.zero_grad()",
            "one of ten": "torch.manual_seed(seed + step // 10)\noptimizer.zero_grad()",
        },
    ),
    hints=(
        "Random numbers that never change are no noise. Which are drawn in a step, and from where?",
        "Note the first three numbers of torch.rand(3) at the beginning of some steps, with the generator put back afterwards.",
        "Look for what is done at every step and should have been done once.",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Note at two steps of one run what torch.rand(3) would give, and compare.",
            "The same numbers: `fresh_noise.seeded > 0.5`.",
            "Others, and others again in another run: `fresh_noise.seeded < 0.5`.",
        ),
        LookAlike(
            "loop/same_batch_forever",
            "Compare the labels of the batches of two steps of one epoch.",
            "They differ: `fresh_batches.repeated_share < 0.5`.",
            "They are the same: `fresh_batches.repeated_share > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
)
