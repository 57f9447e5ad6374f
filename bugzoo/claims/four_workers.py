"""Do four workers and pinned memory end the waiting for data?"""

import math

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SEEDS, job, middle, of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="num_workers=4 and pin_memory=True restore full utilisation.",
    by="A tuning guide: two lines of code that fix a utilisation of 30 to 40 %",
    url="https://theneuralbase.com/torchvision/learn/beginner/dataloader-performance-tuning/",
    tried=(
        "image_pipeline with its costly transform in the path of every fetch, no, two and four workers, with and without "
        "pinned memory, and with a cache instead; three seeds, one run at a time. Utilisation is the share of the loop's time "
        "that is not waiting for data. It holds where four workers with pinned memory bring 90 %, in part where they halve "
        "the waiting."
    ),
    limits=(
        "A CPU of two cores, which the workers share with the training, and no GPU: pinned memory can do nothing here. With "
        "more cores than workers the waiting ends where fetching a batch takes less than workers times a step."
        " Where other programs take the cores as well (the load stands with the result), workers gain less."
    ),
    timed=True,
)
FAULT = "speed/starved_loader"
PINNED = "shuffle=True, num_workers=num_workers)", "shuffle=True, num_workers=num_workers, pin_memory=True)"
CASES = {
    "no worker": (FAULT, 0, ()),
    "2 workers": (FAULT, 2, ()),
    "4 workers": (FAULT, 4, ()),
    "4 workers, pinned": (FAULT, 4, (PINNED,)),
    "a cache": (None, 0, ()),
}


def jobs() -> dict[str, Job]:
    """Every case."""
    return {
        f"{name} {seed}": job(
            "image_pipeline", *filter(None, (fault,)), seed=seed, changes=changes, num_workers=workers, images_used=640
        )
        for seed in SEEDS
        for name, (fault, workers, changes) in CASES.items()
    }


def look(run: Run) -> Numbers:
    """Seconds of the loop, and the share of them that went by waiting for data."""
    trace = run.trace
    parts = [
        [float(one) for one in part] for part in (trace.data_ms, trace.forward_ms, trace.backward_ms, trace.step_ms)
    ]
    # before the first step lies the making of the data set, which is another matter
    steps = [one for one in list(zip(*parts, strict=True))[1:] if all(map(math.isfinite, one))]
    whole = sum(map(sum, steps))
    return {"seconds": whole / 1000, "waiting": sum(one[0] for one in steps) / whole}


def count(seen: Seen) -> Numbers:
    """Per case, medians over the seeds."""
    return {name: {part: middle(of(seen, name, part)) for part in ("seconds", "waiting")} for name in CASES}


def verdict(numbers: Numbers) -> Finding:
    """By what four workers with pinned memory leave of the waiting."""
    before, after, cache = numbers["no worker"], numbers["4 workers, pinned"], numbers["a cache"]
    kind = HOLDS if after["waiting"] <= 0.1 else PART if 2 * after["waiting"] <= before["waiting"] else NOT
    return Finding(
        kind,
        f"Utilisation {1 - before['waiting']:.0%} without workers ({before['seconds']:.1f} s), "
        f"{1 - numbers['2 workers']['waiting']:.0%} with two, {1 - numbers['4 workers']['waiting']:.0%} with four, "
        f"{1 - after['waiting']:.0%} with pinned memory ({after['seconds']:.1f} s); {1 - cache['waiting']:.0%} with a cache "
        f"({cache['seconds']:.1f} s).",
        "On so few cores the price is the transform itself.",
    )
