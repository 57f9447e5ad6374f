"""When does float16 without a gradient scaler fail?"""

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import middle, of, twins
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="float16 autocast without a gradient scaler fails after about 500 steps.",
    by="A wiki on mixed precision: the loss becomes NaN or Inf a few hundred steps in, or training silently stalls",
    url="https://hivebook.wiki/wiki/mixed-precision-training-nans-fp16-overflow-bf16-and-loss-scaling",
    tried=(
        "amp_transformer for 750 steps of 8 texts without its scaler beside the one with it, on the CPU's float16, three "
        "seeds; with the loss of a share of a large batch, as it stands there, and with the plain mean. It fails at a step "
        "from which its loss (mean of 25 steps) is 0.1 nats behind for good. It holds where that is step 300 to 700 in both, "
        "in part in one."
    ),
    limits="A CPU, one small model. Large models with activations beyond 65504 overflow as well, and then at their own time.",
)
STEPS, WIDTH, BEHIND = 750, 25, 0.1
CASES = {"share of a large batch": 524_288, "plain mean": 8 * 32}


def jobs() -> dict[str, Job]:
    """Both losses, with the scaler and without."""
    found: dict[str, Job] = {}
    for name, tokens in CASES.items():
        settings = {"size": "full", "steps": STEPS, "batch_size": 8, "tokens_per_update": tokens}
        found |= twins("amp_transformer", "precision/no_grad_scaler", name=name, **settings)
    return found


def look(run: Run) -> Numbers:
    """How it ended, means of WIDTH steps' losses in units of the first, and what it measured itself."""
    losses = [float(one) for one in run.trace.loss]
    means = [sum(losses[at : at + WIDTH]) / WIDTH / losses[0] for at in range(0, len(losses) - WIDTH + 1, WIDTH)]
    return {"outcome": run.outcome, "means": means, **run.trace.metrics}


def count(seen: Seen) -> Numbers:
    """Per loss: the step at which it falls behind for good (None: never), final losses with and without, how runs ended."""
    found: Numbers = {}
    for name in CASES:
        pairs = zip(of(seen, f"{name} broken", "means"), of(seen, f"{name} healthy", "means"), strict=True)
        fails = [_fails(*pair) for pair in pairs]
        found[name] = {
            "fails_at": fails,
            "with": middle(of(seen, f"{name} healthy", "loss")),
            "without": middle(of(seen, f"{name} broken", "loss")),
            "not_finished": sum(one != "finished" for one in of(seen, f"{name} broken", "outcome")),
        }
    return found


def _fails(broken: list[float], healthy: list[float]) -> int | None:
    """The first step of the last stretch in which the broken loss is behind; the first loss is ln 96 nats."""
    first = None
    for at, (b, h) in enumerate(zip(broken, healthy, strict=False)):
        if (b - h) * 4.564 <= BEHIND:  # not for a loss that is no number
            first = None
        elif first is None:
            first = at * WIDTH + 1
    return first


def verdict(numbers: Numbers) -> Finding:
    """By the step at which it fails."""
    steps = {name: [step for step in one["fails_at"] if step is not None] for name, one in numbers.items()}
    fitting = [name for name, found in steps.items() if found and 300 <= middle(found) <= 700]
    kind = HOLDS if len(fitting) == len(numbers) else PART if fitting else NOT
    told = "; ".join(
        f"{name}: "
        + (f"behind from step {middle(steps[name]):.0f} on" if steps[name] else "never behind")
        + f", {one['without']:.2f} nats at the end instead of {one['with']:.2f}, {one['not_finished']} runs lost"
        for name, one in numbers.items()
    )
    return Finding(kind, f"{told}.", "How small the gradients are decides, and not the number of steps.")
