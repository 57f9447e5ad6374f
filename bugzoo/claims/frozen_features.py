"""What do frozen features cost beside fine-tuning?"""

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import ended, middle, of, twins
from bugzoo.running.job import Job

CLAIM = Claim(
    said="Frozen features reach 85 %, fine-tuned ones 93 %.",
    by="Folklore in its numbers; a handbook says that fine-tuning typically improves accuracy by 5 to 15 %",
    url="https://evisp.github.io/ml-handbook/06-dl-architectures/transfer-learning",
    tried=(
        "finetune with its backbone never set free, beside the healthy program; short and full length, and with a half and a "
        "tenth of the new training images, five seeds. It holds where the gap is 5 to 15 points everywhere, in part where "
        "somewhere."
    ),
    limits=(
        "Five digits after five others, a backbone of two layers. A backbone that has seen a million pictures gives better "
        "features."
    ),
)
SEEDS = (0, 1, 2, 3, 4)
CASES = {"short": ("tiny", 400), "full": ("full", 400), "200 images": ("full", 200), "40 images": ("full", 40)}
look = ended


def jobs() -> dict[str, Job]:
    """Each case frozen and set free."""
    found: dict[str, Job] = {}
    for name, (size, images) in CASES.items():
        changes = () if images == 400 else (("new[:400], new[400:]", f"new[:{images}], new[400:]"),)
        found |= twins("finetune", "freezing/never_unfrozen", name=name, seeds=SEEDS, size=size, changes=changes)
    return found


def count(seen: Seen) -> Numbers:
    """Per case the accuracies on the new digits, and the points between them."""
    found = {}
    for name in CASES:
        tuned, frozen = (of(seen, f"{name} {which}", "accuracy") for which in ("healthy", "broken"))
        gaps = [100 * (a - b) for a, b in zip(tuned, frozen, strict=True)]
        found[name] = {"tuned": middle(tuned), "frozen": middle(frozen), "gap": middle(gaps), "gaps": gaps}
    return found


def verdict(numbers: Numbers) -> Finding:
    """By the gap: five to fifteen points."""
    fitting = [name for name, one in numbers.items() if 5 <= one["gap"] <= 15]
    kind = HOLDS if len(fitting) == len(numbers) else PART if fitting else NOT
    told = "; ".join(f"{name}: {one['frozen']:.0%} and {one['tuned']:.0%}" for name, one in numbers.items())
    less = min(min(one["gaps"]) for one in numbers.values())
    return Finding(
        kind,
        f"Frozen and fine-tuned: {told}. The gap is {min(one['gap'] for one in numbers.values()):.0f} to "
        f"{max(one['gap'] for one in numbers.values()):.0f} points (of one seed never below {less:.0f}).",
        "The sign of the gap is one thing; its size belongs to a data set and a backbone.",
    )
