"""How many trainings that diverge are mended by a tenth of the learning rate?"""

from bugzoo import programs
from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import job, of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="When a training diverges, a tenth of the learning rate fixes it in 80 % of the cases.",
    by="The share is folklore; the advice stands under most questions on nan, here with a case in which it helped",
    url="https://datascience.stackexchange.com/questions/15962/why-is-learning-rate-causing-my-neural-networks-weights-to-skyrocket",
    tried=(
        "Ten causes of divergence of the catalogue, on two programs each where they fit two, two seeds: rates 100, 300 and "
        "1000 times too high, and seven causes that are no rate. Fixed: it finishes, no worse than the healthy program does "
        "at either rate. It holds from 70 % of the cases that diverge on, in part from 40 %."
    ),
    limits=(
        "A sample of causes, each counted once, and not of what people meet: if nearly every divergence were a rate too high "
        "by ten, the share would be another one."
    ),
)
SEEDS = (0, 1)
RATE = "optimizer/lr_too_high"
CAUSES = {
    f"{RATE}?factor=100": ("mlp", "mini_transformer"),
    f"{RATE}?factor=300": ("mlp", "mini_transformer"),
    f"{RATE}?factor=1000": ("mlp", "mini_transformer"),
    "numerics/exp_overflow": ("mlp", "mini_transformer"),
    "numerics/log_at_step": ("mlp", "digits_cnn"),
    "numerics/nan_in_data": ("mlp", "regression_mlp"),
    "numerics/sqrt_at_zero": ("mlp", "mini_transformer"),
    "numerics/zero_norm_division": ("mlp", "mini_transformer"),
    "numerics/variance_cancellation": ("regression_mlp",),
    "precision/half_parameters": ("mlp", "regression_mlp"),
}
RATES = {"mlp": 1e-3, "mini_transformer": 3e-3, "digits_cnn": 2e-3, "regression_mlp": 1e-3}


def jobs() -> dict[str, Job]:
    """Every case at its rate and at a tenth of it, and the healthy programs at both."""
    found = {}
    for cause, where in [("healthy", tuple(RATES)), *CAUSES.items()]:
        faults = () if cause == "healthy" else (cause,)
        for program in where:
            for seed in SEEDS:
                found[f"{cause} {program} whole {seed}"] = job(program, *faults, seed=seed)
                tenth = RATES[program] / 10
                found[f"{cause} {program} tenth {seed}"] = job(program, *faults, seed=seed, learning_rate=tenth)
    return found


def look(run: Run) -> Numbers:
    """How it ended, the pattern of its loss, what it measured itself."""
    from bugzoo import diagnostics

    curve = diagnostics.read("loss_curve", run)
    lost = run.outcome != "finished" or not curve.applies or curve.numbers["diverged"] > 0.5
    return {"finite": run.outcome == "finished", "diverged": bool(lost), **run.trace.metrics}


def count(seen: Seen) -> Numbers:
    """Per case "diverged" at its own rate, "stopped" at a tenth, and "fixed", as shares of the seeds."""
    cases: Numbers = {}
    for cause, where in CAUSES.items():
        for program in where:
            whole, tenth = (of(seen, f"{cause} {program} {rate}", "diverged") for rate in ("whole", "tenth"))
            cases[f"{cause} on {program}"] = {
                "diverged": sum(whole) / len(whole),
                "stopped": 1 - sum(tenth) / len(tenth),
                "fixed": sum(_fixed(seen, cause, program, seed) for seed in SEEDS) / len(SEEDS),
            }
    return {"cases": cases}


def _fixed(seen: Seen, cause: str, program: str, seed: int) -> bool:
    facts = programs.load(program).facts
    metric, sign = facts["metric"], 1 if facts["better"] == "higher" else -1
    mine = seen[f"{cause} {program} tenth {seed}"]
    if not mine["finite"] or metric not in mine:
        return False
    healthy = [sign * seen[f"healthy {program} {rate} {seed}"][metric] for rate in ("whole", "tenth")]
    allowed = min(healthy)  # at a tenth of its rate a short healthy run is behind as well
    return sign * mine[metric] >= allowed - 0.02 * abs(allowed)


def verdict(numbers: Numbers) -> Finding:
    """By the share of the cases that diverged and are fixed on every seed."""
    cases = {name: one for name, one in numbers["cases"].items() if one["diverged"] == 1}
    fixed = [name for name, one in cases.items() if one["fixed"] == 1]
    quiet = [name for name, one in cases.items() if one["stopped"] == 1 and one["fixed"] < 1]
    rate = [name for name in cases if name.startswith(RATE)]
    share = len(fixed) / max(1, len(cases))
    kind = HOLDS if share >= 0.7 else PART if share >= 0.4 else NOT
    return Finding(
        kind,
        f"{len(fixed)} of the {len(cases)} cases that diverged are fixed ({share:.0%}): {sum(one in rate for one in fixed)} of "
        f"{len(rate)} in which the rate was too high, {sum(one not in rate for one in fixed)} of {len(cases) - len(rate)} with "
        f"another cause. In {len(quiet)} more the loss no longer diverges, and the result is still worse than the healthy one.",
    )
