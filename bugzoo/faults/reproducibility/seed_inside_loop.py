"""Dropout and augmentation are on, but all curves look as if they were off. At least every run is the same."""

from bugzoo.faults import words
from bugzoo.faults.idioms import SEED, ZERO_GRAD
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import before, instead

LINE = "torch.manual_seed(seed)\noptimizer.zero_grad()"

FAULT = Fault(
    title="torch.manual_seed() called at every training step",
    level=3,
    symptom="degraded",
    edits=before(ZERO_GRAD, "$TORCH.manual_seed($SEED)", given=SEED),
    not_on={"data_parallel": "the fault is measured by running a step again, and one of several ranks cannot do that."},
    evidence=("fresh_noise.seeded > 0.5",),
    effect="fresh_noise.seeded > healthy",
    why=(
        "torch.manual_seed() sets the generator back to its start. A call before every step gives each step the same "
        "random numbers. Dropout zeroes the same units at every step, and added noise repeats. The loader shuffles "
        "with the same generator, so every epoch from the second on has the same order. Random noise becomes a fixed "
        "mask."
    ),
    fix=(
        "Call torch.manual_seed(seed) once, before the first draw. Give numbers that must repeat at each step a "
        "torch.Generator of their own."
    ),
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
        "Noise that never changes is not noise. Which random numbers does a step draw, and from which generator?",
        "Print torch.rand(3) at the start of some steps, and restore the RNG state afterwards.",
        "Look for a call that runs again and again but should run only once.",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "At two steps of one run, print what torch.rand(3) would give, and compare.",
            "The numbers are the same: `fresh_noise.seeded > 0.5`.",
            "The numbers differ between the steps, and again in another run: `fresh_noise.seeded < 0.5`.",
        ),
        LookAlike(
            "loop/same_batch_forever",
            "Compare the labels in the batches of two steps of one epoch.",
            "The labels differ: `batch_order.same_batch_share < 0.5`.",
            "The labels are the same: `batch_order.same_batch_share > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
    cause=Cause(words.REPEATED, also=("seeded again and again",)),
    terms=("RNG state", "seed"),
)
