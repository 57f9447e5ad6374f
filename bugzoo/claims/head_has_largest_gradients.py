"""Has the classifier's head the largest gradients?"""

import math

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SEEDS, job, middle, of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="The classifier head has the largest gradients; they get smaller on the way back to the first layer.",
    by="The usual picture of vanishing gradients: one more factor below 1 at each layer on the way back",
    url="https://santhoshkammari.github.io/zero-to-hero-ai/chapters/ch07/s05.html",
    tried=(
        "Nine healthy programs, three seeds, every step: whose weight has the largest gradient norm, and whose the largest per "
        "number. A program counts where the head's norm is the largest at more than half of the steps. It holds from 80 % of "
        "them on, in part from 30 %."
    ),
    limits="Shallow networks with good initialisation, most with ReLU. A deep stack of sigmoids is another matter.",
)
PROGRAMS = (
    "mlp",
    "digits_cnn",
    "image_pipeline",
    "finetune",
    "regression_mlp",
    "sentiment_lstm",
    "sequence_classifier",
    "mini_transformer",
    "modular_addition",
)


def jobs() -> dict[str, Job]:
    """Each program, healthy."""
    return {f"{program} {seed}": job(program, seed=seed) for program in PROGRAMS for seed in SEEDS}


def look(run: Run) -> Numbers:
    """Share of the steps at which a head's weight has the largest gradient, whole and per number, and who has it most often.

    A head that is put in during the training, as finetune does, has no name but its kind.
    """
    weights = [(at, one) for at, one in enumerate(run.trace.parameters) if len(one.shape) > 1]
    heads = [at for at, one in weights if "head" in one.name or one.name.startswith("Linear.")]
    names = {at: one.name for at, one in weights}
    by_norm, by_number, over = [], [], []
    for norms in run.trace.param_grad_norm:
        there = {at: float(norms[at]) for at, _ in weights if math.isfinite(norms[at]) and norms[at] > 0}
        if len(there) < 2:  # everything but the head is frozen
            continue
        by_norm.append(max(there, key=lambda at: there[at]))
        by_number.append(max(there, key=lambda at: there[at] / math.sqrt(math.prod(run.trace.parameters[at].shape))))
        if weights[0][0] in there:
            over.append(max(there.get(at, 0.0) for at in heads) / there[weights[0][0]])
    return {
        "head": sum(at in heads for at in by_norm) / len(by_norm),
        "head_per_number": sum(at in heads for at in by_number) / len(by_number),
        "largest": names[max(set(by_norm), key=by_norm.count)],
        "over_first_layer": middle(over),
    }


def count(seen: Seen) -> Numbers:
    """Per program the medians over the seeds."""
    found = {}
    for program in PROGRAMS:
        parts = ("head", "head_per_number", "over_first_layer")
        found[program] = {part: middle(of(seen, program, part)) for part in parts}
        found[program]["largest"] = seen[f"{program} {SEEDS[0]}"]["largest"]
    return found


def verdict(numbers: Numbers) -> Finding:
    """By the number of programs in which the head leads."""
    leads = [name for name, one in numbers.items() if one["head"] > 0.5]
    each = [name for name, one in numbers.items() if one["head_per_number"] > 0.5]
    share = len(leads) / len(numbers)
    kind = HOLDS if share >= 0.8 else PART if share >= 0.3 else NOT
    others = "; ".join(f"{one['largest']} in {name}" for name, one in numbers.items() if name not in leads)
    return Finding(
        kind,
        f"By norm the head leads in {len(leads)} of {len(numbers)} programs ({', '.join(leads) or 'none'}), per number in "
        f"{len(each)}. Elsewhere it is another weight: {others or 'nowhere'}. The head's norm is "
        f"{min(one['over_first_layer'] for one in numbers.values()):.2g} to "
        f"{max(one['over_first_layer'] for one in numbers.values()):.2g} times that of the first layer.",
    )
