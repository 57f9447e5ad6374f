"""Do skip connections make the loss of a deep network smooth?"""

from pathlib import Path

import numpy as np

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import SECONDS, middle, of
from bugzoo.running.job import Job, Limits
from bugzoo.running.result import Run
from bugzoo.scenario import with_settings

CLAIM = Claim(
    said="Skip connections keep the loss of a deep network smooth; without them it becomes chaotic with depth.",
    by="Li, Xu, Taylor, Studer, Goldstein: Visualizing the Loss Landscape of Neural Nets, 2018",
    url="https://arxiv.org/abs/1712.09913",
    tried=(
        "A narrow ReLU network on digits, 6, 20 and 40 layers deep, with and without skip connections, and without them but "
        "with a LayerNorm in each layer; three seeds. Around the trained weights the loss is drawn on 21 x 21 points of a "
        "random plane, rows in units of the weights' rows. A slice is smooth if it has one lowest point inside and rises "
        "less than a hundredfold from the middle of its range to its edge. It holds where every slice with skips is smooth "
        "and at 40 layers none without is, in part where only one of the two is so."
    ),
    limits=(
        "Fully connected layers, 1200 pictures, one plane of a space with thousands of directions. A slice that is smooth can "
        "be rough elsewhere."
    ),
)
SEEDS = (0, 1, 2)
DEPTHS = (6, 20, 40)
WAYS = ("skip", "plain", "normalised")
SCRIPT = Path(__file__).with_name("_slices.py")
RISE = 100.0


def jobs() -> dict[str, Job]:
    """Each depth and way on each seed."""
    text, found = SCRIPT.read_text(encoding="utf-8"), {}
    for depth in DEPTHS:
        for way in WAYS:
            for seed in SEEDS:
                source = with_settings(text, {"depth": depth, "way": way, "seed": seed}, "the slices")
                limits = Limits(seconds=SECONDS)
                found[f"{depth} {way} {seed}"] = Job(source, file="slices.py", limits=limits, export=("grid",))
    return found


def look(run: Run) -> Numbers:
    """Accuracy, loss at the end, the slice (rows x columns, nats), its lowest points inside, its rise to the edge."""
    grid = np.nan_to_num(np.asarray(run.arrays["grid"], dtype=np.float64), nan=np.inf)
    inner = grid[1:-1, 1:-1]
    around = (grid[:-2, 1:-1], grid[2:, 1:-1], grid[1:-1, :-2], grid[1:-1, 2:])
    lowest = int(np.logical_and.reduce([inner < one for one in around]).sum())
    far = np.concatenate([grid[0], grid[-1], grid[1:-1, 0], grid[1:-1, -1]])
    quarter = len(grid) // 4
    near = np.concatenate([grid[quarter, quarter:-quarter], grid[-quarter - 1, quarter:-quarter]])
    rise = float(np.median(far) / np.median(near))
    return {**run.trace.metrics, "lowest": lowest, "rise": rise, "grid": np.log10(grid).round(2).tolist()}


def count(seen: Seen) -> Numbers:
    """Per depth and way: accuracy, lowest points and rise (medians), the smooth slices, and the first seed's picture."""
    found = {}
    for depth in DEPTHS:
        for way in WAYS:
            kind = f"{depth} {way}"
            lowest, rises = of(seen, kind, "lowest"), of(seen, kind, "rise")
            smooth = sum(one <= 1 and rise < RISE for one, rise in zip(lowest, rises, strict=True))
            found[kind] = {
                "accuracy": middle(of(seen, kind, "accuracy")),
                "lowest": max(lowest),
                "rise": middle(rises),
                "smooth": smooth,
                "of": len(lowest),
                "grid": of(seen, kind, "grid")[0],
            }
    return found


def verdict(numbers: Numbers) -> Finding:
    """By the smooth slices."""
    with_skip = all(numbers[f"{depth} skip"]["smooth"] == numbers[f"{depth} skip"]["of"] for depth in DEPTHS)
    deepest = DEPTHS[-1]
    plain, skip, normed = (numbers[f"{deepest} {way}"] for way in ("plain", "skip", "normalised"))
    without = plain["smooth"] == 0
    kind = HOLDS if with_skip and without else PART if with_skip or without else NOT
    told = "; ".join(
        f"{depth} layers: {numbers[f'{depth} skip']['smooth']} of {numbers[f'{depth} skip']['of']} with skips, "
        f"{numbers[f'{depth} plain']['smooth']} without"
        for depth in DEPTHS
    )
    return Finding(
        kind,
        f"Smooth slices, {told}. With {deepest} layers the loss rises {skip['rise']:.3g}-fold towards the edge with skips, "
        f"{plain['rise']:.3g}-fold without, and {normed['rise']:.3g}-fold without skips and with a LayerNorm, which is "
        f"smooth in {normed['smooth']} of {normed['of']} (held-out accuracy {skip['accuracy']:.0%}, {plain['accuracy']:.0%} "
        f"and {normed['accuracy']:.0%}).",
    )
