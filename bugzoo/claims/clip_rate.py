"""At how many steps does clipping bite in a healthy training?"""

from bugzoo import programs
from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SEEDS, job, middle, of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="In a healthy training clipping bites at 1 to 10 % of the steps.",
    by="Folklore in its numbers; others say that more than half of the steps signals an instability",
    url="https://metricgate.com/docs/gradient-clipping",
    tried=(
        "sentiment_lstm and word_lines, whose loops clip, with six limits from 0.01 to 3, three seeds: the share of steps "
        "that are cut, and whether the result lies in the healthy band. It holds where all that are in the band bite at 1 to "
        "10 % of the steps, in part where at least half of them do."
    ),
    limits="Adam, which takes a limit's length out of a step again. With plain SGD a low limit is a low learning rate.",
)
LIMITS = (0.01, 0.1, 0.3, 0.5, 1.0, 3.0)
PROGRAMS = ("sentiment_lstm", "word_lines")


def jobs() -> dict[str, Job]:
    """Each program at each limit."""
    return {
        f"{program} {limit:g} {seed}": job(program, seed=seed, max_norm=limit)
        for program in PROGRAMS
        for limit in LIMITS
        for seed in SEEDS
    }


def look(run: Run) -> Numbers:
    """Norms of what the optimiser got, and what the script measured."""
    return {"norms": [float(one) for one in run.trace.grad_norm], **run.trace.metrics}


def count(seen: Seen) -> Numbers:
    """Per program and limit: the share of steps that were cut, the metric, and on how many seeds it is healthy."""
    found: Numbers = {}
    for program in PROGRAMS:
        facts = programs.load(program).facts
        low, high = facts["tiny_healthy"]
        for limit in LIMITS:
            norms, metric = of(seen, f"{program} {limit:g}", "norms"), of(seen, f"{program} {limit:g}", facts["metric"])
            cut = [sum(abs(norm - limit) <= 1e-3 * limit for norm in one) / len(one) for one in norms]
            healthy = sum(low <= value <= high for value in metric) / len(metric)
            found[f"{program}, limit {limit:g}"] = {"cut": middle(cut), "metric": middle(metric), "healthy": healthy}
    return found


def verdict(numbers: Numbers) -> Finding:
    """By the settings whose result is healthy on every seed."""
    healthy = {name: one["cut"] for name, one in numbers.items() if one["healthy"] == 1}
    fitting = [name for name, cut in healthy.items() if 0.01 <= cut <= 0.1]
    kind = HOLDS if len(fitting) == len(healthy) else PART if 2 * len(fitting) >= len(healthy) else NOT
    most = max(healthy, key=lambda name: healthy[name])
    return Finding(
        kind,
        f"{len(healthy)} of {len(numbers)} settings end in the healthy band, {len(fitting)} of them with 1 to 10 % of the "
        f"steps cut. Their shares go from {min(healthy.values()):.0%} to {healthy[most]:.0%} ({most}).",
        "The rate tells where the limit lies among the norms, not whether the training is well.",
    )
