"""Which loss does a training with a softmax too many begin with?"""

import math

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SEEDS, job, middle, of, twins
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="A double softmax is seen at once: the loss begins far too high, at 47 for instance.",
    by="Folklore; that a first loss far from ln C gives a bug away is Karpathy's advice, and right for other bugs",
    url="https://karpathy.github.io/2019/04/25/recipe/",
    tried=(
        "The first and the highest loss of five classifiers and a language model, three seeds, beside ln C, the loss of "
        "guessing, and beside weights that are too large. It holds where the first loss is 40 or more, in part at twice ln C."
    ),
    limits="A reduction other than the mean multiplies every loss, and then nothing of this can be read off it.",
)
CLASSES = {
    "mlp": 10,
    "digits_cnn": 10,
    "image_pipeline": 10,
    "finetune": 5,
    "sequence_classifier": 2,
    "mini_transformer": 96,
}
LARGE = "mlp, weights too large"


def jobs() -> dict[str, Job]:
    """Each program with the softmax and without; the mlp with weights that are too large besides."""
    found: dict[str, Job] = {}
    for program in CLASSES:
        found |= twins(program, "loss/double_softmax")
    return found | {f"{LARGE} {seed}": job("mlp", "initialisation/weights_too_large", seed=seed) for seed in SEEDS}


def look(run: Run) -> Numbers:
    """The first loss and the highest one."""
    losses = [float(one) for one in run.trace.loss]
    return {"first": losses[0], "highest": max(losses)}


def count(seen: Seen) -> Numbers:
    """Per program: first losses, the highest of all seeds, ln C, and the bound that no loss of it can pass."""
    found: Numbers = {"programs": {}, "weights_too_large": middle(of(seen, LARGE, "first"))}
    for program, classes in CLASSES.items():
        found["programs"][program] = {
            "first": middle(of(seen, f"{program} broken", "first")),
            "first_healthy": middle(of(seen, f"{program} healthy", "first")),
            "highest": max(of(seen, f"{program} broken", "highest")),
            "ln_classes": math.log(classes),
            "bound": math.log(math.e + classes - 1),  # all on one wrong class
        }
    return found


def verdict(numbers: Numbers) -> Finding:
    """Far too high, somewhat, or not at all."""
    programs = numbers["programs"]
    over = [one["first"] / one["ln_classes"] for one in programs.values()]
    far = sum(one["first"] >= 40 for one in programs.values())
    kind = HOLDS if far == len(over) else PART if far or max(over) > 2 else NOT
    mlp = programs["mlp"]
    return Finding(
        kind,
        f"It begins at {min(over):.3f} to {max(over):.3f} times ln C (mlp: {mlp['first']:.3f}, ln 10 is "
        f"{mlp['ln_classes']:.3f}). It cannot pass ln(e + C - 1), {mlp['bound']:.2f} for ten classes; the highest seen on the "
        f"mlp is {mlp['highest']:.2f}. What begins far too high has weights that are too large "
        f"({numbers['weights_too_large']:.0f} there).",
        "At the first step this fault looks perfect.",
    )
