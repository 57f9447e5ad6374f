"""Does a model that ends in a flat place do better on new data?"""

from pathlib import Path

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SECONDS, ended, middle, of
from bugzoo.running.job import Job, Limits
from bugzoo.scenario import with_settings

CLAIM = Claim(
    said="Flat minima generalise better: small batches find flatter ones than large batches, and SAM flatter ones still.",
    by="Keskar and others: On Large-Batch Training, 2017; Foret and others: Sharpness-Aware Minimization, 2021",
    url="https://arxiv.org/abs/2010.01412",
    tried=(
        "A perceptron with one hidden layer on 300 digits, with right labels and with a fifth of them drawn at random; the "
        "whole set as one batch, batches of 16, and SAM with a radius of 0.05 and of 0.5, equally many steps, five seeds. Each "
        "way is held against batches of 16. It holds where the flatter of two is at least a point better on 997 new digits, "
        "for each of the three and both kinds of labels, in part where somewhere."
    ),
    limits=(
        "A small model and an easy task. Sharpness is the largest eigenvalue at the end, which can be made as large as one "
        "likes without changing an answer (lesson 18). SAM takes two gradients for each step."
    ),
)
SEEDS = (0, 1, 2, 3, 4)
LABELS = {"right labels": 0.0, "a fifth wrong": 0.2}
USUAL = "batches of 16"
WAYS = {
    "one batch": {"batch_size": 300},
    USUAL: {},
    "SAM 0.05": {"radius": 0.05},
    "SAM 0.5": {"radius": 0.5},
}
SCRIPT = Path(__file__).with_name("_flatness.py")
look = ended


def jobs() -> dict[str, Job]:
    """Each way with both kinds of labels, on each seed."""
    text, found = SCRIPT.read_text(encoding="utf-8"), {}
    for kind, wrong in LABELS.items():
        for way, settings in WAYS.items():
            for seed in SEEDS:
                source = with_settings(text, {**settings, "wrong": wrong, "seed": seed}, "the flatness")
                found[f"{kind}, {way} {seed}"] = Job(source, file="flatness.py", limits=Limits(seconds=SECONDS))
    return found


def count(seen: Seen) -> Numbers:
    """Per labels and way the medians: sharpness, held-out accuracy, share of the wrong labels that was learnt."""
    return {
        kind: {
            way: {
                number: middle(of(seen, f"{kind}, {way}", number))
                for number in ("sharpness", "accuracy", "loss", "wrong_learnt")
            }
            for way in WAYS
        }
        for kind in LABELS
    }


def verdict(numbers: Numbers) -> Finding:
    """By the points that the flatter of two gains."""
    gains = {}
    for kind, ways in numbers.items():
        for way, one in ways.items():
            if way != USUAL:
                flat, sharp = sorted((one, ways[USUAL]), key=lambda found: found["sharpness"])
                gains[f"{way}, {kind}"] = 100 * (flat["accuracy"] - sharp["accuracy"])
    better = [name for name, points in gains.items() if points >= 1]
    verdict_ = HOLDS if len(better) == len(gains) else PART if better else NOT
    told = "; ".join(f"{name}: {points:+.1f}" for name, points in gains.items())
    spoilt = numbers["a fifth wrong"]
    learnt = spoilt[USUAL]["wrong_learnt"], spoilt["SAM 0.5"]["wrong_learnt"]
    return Finding(
        verdict_,
        f"Points that the flatter one gains beside {USUAL}, {told}.",
        f"Where much is gained, something else has changed as well: with batches of 16 the model learnt {learnt[0]:.0%} of the "
        f"wrong labels by heart, with the wide SAM {learnt[1]:.0%}.",
    )
