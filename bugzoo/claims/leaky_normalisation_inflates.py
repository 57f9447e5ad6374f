"""Does a normalisation that has seen the validation rows inflate the result?"""

import statistics

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import ended, job, of
from bugzoo.running.job import Job

CLAIM = Claim(
    said="Normalising before the split leaks the test set into the training and inflates the accuracy.",
    by='A standard warning; "your score may look impressive", says this page, with 95 % that become 60 % in production',
    url="https://www.digitado.com.br/data-leakage-in-machine-learning-why-you-must-split-before-preprocessing",
    tried=(
        "regression_mlp with 283, 60 and 20 training rows, thirty matched seeds each: r2 on the validation rows, with mean and "
        "deviation of all 442 rows less with those of the training rows. It holds where the mean gain is 0.01 or more and "
        "twice its standard error, everywhere; in part where somewhere."
    ),
    limits=(
        "One table without outliers, and scaling only. Target encoding, oversampling or feature selection before a split leak "
        "far more."
    ),
)
SEEDS = range(30)
ROWS = {283: 10, 60: 40, 20: 100}
"""Training rows -> epochs, so that each makes about as many steps."""
look = ended


def jobs() -> dict[str, Job]:
    """Each size of the training set, leaky and not."""
    found = {}
    for rows, epochs in ROWS.items():
        changes = () if rows == 283 else (("order[:283], order[283:]", f"order[:{rows}], order[283:]"),)
        for seed in SEEDS:
            for which, faults in (("leaky", ("data/leaky_normalisation",)), ("right", ())):
                made = job("regression_mlp", *faults, seed=seed, changes=changes, epochs=epochs)
                found[f"{rows} rows {which} {seed}"] = made
    return found


def count(seen: Seen) -> Numbers:
    """Per size the mean gain in r2, its standard error, and on how many seeds there is one."""
    found = {}
    for rows in ROWS:
        leaky, right = (of(seen, f"{rows} rows {which}", "r2") for which in ("leaky", "right"))
        gains = [a - b for a, b in zip(leaky, right, strict=True)]
        found[f"{rows} rows"] = {
            "gain": statistics.mean(gains),
            "error": statistics.stdev(gains) / len(gains) ** 0.5,
            "seeds_with_gain": sum(gain > 0 for gain in gains),
            "seeds": len(gains),
            "r2": statistics.mean(right),
        }
    return found


def verdict(numbers: Numbers) -> Finding:
    """By gains that are worth a word and are none of chance."""
    inflated = [name for name, one in numbers.items() if one["gain"] >= max(0.01, 2 * one["error"])]
    kind = HOLDS if len(inflated) == len(numbers) else PART if inflated else NOT
    told = "; ".join(
        f"{name}: {one['gain']:+.4f} ± {one['error']:.4f} (more on {one['seeds_with_gain']} of {one['seeds']} seeds)"
        for name, one in numbers.items()
    )
    why = f"Change of r2 by the leak: {told}."
    return Finding(kind, why, "It stays wrong all the same, as nobody can know the size of a leak beforehand.")
