"""How far does a step go once zero_grad() is forgotten?"""

import math

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SEEDS, job, middle, of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="Without zero_grad() the effective learning rate grows linearly with the number of steps.",
    by="Folklore; the picture behind it, a step made of the sum of all gradients so far, stands in most explanations",
    url="https://preproom.ai/learn/model-training-pytorch.html",
    tried=(
        "mlp and digits_cnn, each with SGD and with Adam, three seeds. At each step it is measured how far .grad goes along "
        "the fresh gradient of that batch: 1 is right, t at step t would be linear. It holds where the power of t, "
        "fitted over steps 1 to 100, lies between 0.8 and 1.2, for that factor or for the length of a step beside the healthy "
        "one's."
    ),
    limits="Two small networks. A loss that is a straight slope, with the same gradient at every step, would make it true.",
)
STEPS, UNTIL = 100, 200
ADAM = "torch.optim.Adam(model.parameters(), lr=learning_rate)"
SGD = ADAM, "torch.optim.SGD(model.parameters(), lr=0.1)"
PROGRAMS = ("mlp", "digits_cnn")
# beside each backward(): how far .grad goes along this batch's own gradient, and how far the last step went
FOLLOW = """
followed, before = [], None


def follow(loss):
    global before
    fresh = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    loss.backward()
    pairs = [(p.grad, f) for p, f in zip(model.parameters(), fresh)]
    along = sum((g * f).sum() for g, f in pairs) / sum((f * f).sum() for _, f in pairs)
    now = torch.cat([p.detach().flatten() for p in model.parameters()])
    moved = 0.0 if before is None else (now - before).norm().item()
    followed.append([along.item(), moved])
    before = now


# %% Training
"""
WATCHED = (("\n# %% Training\n", FOLLOW), ("        loss.backward()\n", "        follow(loss)\n"))
AS_TENSOR = ("\n# %% Evaluation\n", "\nfollowed = torch.tensor(followed)\n\n# %% Evaluation\n")


def jobs() -> dict[str, Job]:
    """Each program, each optimiser, each seed: with zero_grad() and without."""
    found = {}
    for program in PROGRAMS:
        for optimizer, change in (("SGD", (SGD,)), ("Adam", ())):
            for seed in SEEDS:
                for which, faults in (("healthy", ()), ("broken", ("loop/stale_gradients",))):
                    made = job(program, *faults, seed=seed, export="followed", changes=(*change, *WATCHED, AS_TENSOR))
                    found[f"{program} {optimizer} {which} {seed}"] = made
    return found


def look(run: Run) -> Numbers:
    """How far .grad went along the fresh gradient at each step, how far the weights went, and the accuracy."""
    followed = run.arrays["followed"][:UNTIL].tolist()
    return {"along": [a for a, _ in followed], "moved": [m for _, m in followed], **run.trace.metrics}


def count(seen: Seen) -> Numbers:
    """Per case: fitted powers of the step's number, the factor at some steps, how much longer a step was, the accuracies."""
    found = {}
    for case in dict.fromkeys(" ".join(name.split()[:2]) for name in seen):
        along, healthy = of(seen, f"{case} broken", "along"), of(seen, f"{case} healthy", "moved")
        longer = [
            [b / h for b, h in zip(*pair, strict=True) if h]
            for pair in zip(of(seen, f"{case} broken", "moved"), healthy, strict=True)
        ]
        found[case] = {
            "power": middle(_power(one) for one in along),
            "backwards_share": middle(sum(a < 0 for a in one) / len(one) for one in along),
            "power_of_length": middle(_power(one) for one in longer),
            "times_longer": middle(middle(one[:STEPS]) for one in longer),
            "accuracy": {which: middle(of(seen, f"{case} {which}", "accuracy")) for which in ("healthy", "broken")},
            **{f"at_{step}": middle(one[step - 1] for one in along) for step in (5, 10, 50, 100)},
        }
    return found


def _power(values: list[float]) -> float:
    """Slope of log |value| over log step, by least squares."""
    points = [(math.log(t), math.log(abs(a))) for t, a in enumerate(values[:STEPS], 1) if a]
    x, y = (sum(one) / len(points) for one in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def verdict(numbers: Numbers) -> Finding:
    """Linear in all cases, in some, or in none: along the gradient, or at least in the length of a step."""
    linear = [case for case, one in numbers.items() if any(0.8 <= one[p] <= 1.2 for p in ("power", "power_of_length"))]
    kind = HOLDS if len(linear) == len(numbers) else PART if linear else NOT
    at_100 = [one["at_100"] for one in numbers.values()]
    parts = ("power", "backwards_share", "times_longer", "power_of_length")
    powers, back, longer, lengths = ([one[part] for one in numbers.values()] for part in parts)
    return Finding(
        kind,
        f"Linear in {len(linear)} of {len(numbers)} cases. At step 100 the gradient goes {min(at_100):.1f} to "
        f"{max(at_100):.1f} times as far along the fresh one, not 100 times (powers {min(powers):.2f} to {max(powers):.2f}), "
        f"and at {min(back):.0%} to {max(back):.0%} of the steps it points backwards. Steps are {min(longer):.1f} to "
        f"{max(longer):.1f} times as long (powers {min(lengths):.2f} to {max(lengths):.2f}).",
        "It is a momentum that never forgets, and not a rate that grows.",
    )
