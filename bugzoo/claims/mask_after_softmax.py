"""Does a mask behind the softmax cost more, the more padding there is?"""

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import ended, middle, of, twins
from bugzoo.running.job import Job

CLAIM = Claim(
    said="A mask applied after the softmax degrades the model the more padding there is.",
    by="A standard remark on attention: after the softmax the weights no longer add up to one",
    url="https://ai.stackexchange.com/questions/41367/how-is-the-padding-mask-incorporated-in-the-attention-formula",
    tried=(
        "sequence_classifier, reviews of 5 to 60 words, three seeds: padded to the longest of its batch, always to 60 and "
        "always to 180, and trained on the first but read on the last. It holds where the points lost grow with the padding "
        "and reach 2 in the most padded training, in part where only a change between training and reading costs that much."
    ),
    limits=(
        "One layer on a task that a bag of words nearly solves, and 600 validation reviews: less than two points cannot be "
        "seen. What attention must find by position may suffer more."
    ),
)
WIDE = 180
NO_TRIM = "return inputs[:, : (inputs != 0).sum(1).max()], torch.stack(targets)", "return inputs, torch.stack(targets)"
READ_WIDE = "*encode(validation)), batch_size=256, collate_fn=collate)", "*encode(validation)), batch_size=256)"
# the same reviews alone, with no padding, and padded to the full length: how many answers differ
ALSO = """print(metrics)
rows, _ = encode(validation)
with torch.no_grad():
    padded = model(rows.to(device)).argmax(-1)
    alone = [model(row[: (row != 0).sum()][None].to(device)).argmax(-1) for row in rows]
metrics["turned"] = (padded != torch.cat(alone)).float().mean().item()
"""
CASES = {
    "to the longest": ({}, ()),
    "always 60": ({}, (NO_TRIM,)),
    "always 180": ({"longest": WIDE}, (NO_TRIM,)),
    "read at 180": ({"longest": WIDE}, (READ_WIDE,)),
}
look = ended


def jobs() -> dict[str, Job]:
    """Each amount of padding, with the mask behind the softmax and before it."""
    found: dict[str, Job] = {}
    for name, (settings, others) in CASES.items():
        changes = (*others, ("print(metrics)\n", ALSO))
        found |= twins("sequence_classifier", "attention/mask_after_softmax", name=name, changes=changes, **settings)
    return found


def count(seen: Seen) -> Numbers:
    """Per amount of padding the two accuracies, the points between them, and the share of answers that padding turns."""
    found = {}
    for name in CASES:
        right, wrong = (of(seen, f"{name} {which}", "accuracy") for which in ("healthy", "broken"))
        lost = [100 * (a - b) for a, b in zip(right, wrong, strict=True)]
        found[name] = {"healthy": middle(right), "broken": middle(wrong), "points_lost": middle(lost), "lost": lost}
        found[name] |= {
            f"turned_{which}": middle(of(seen, f"{name} {which}", "turned")) for which in ("healthy", "broken")
        }
    return found


def verdict(numbers: Numbers) -> Finding:
    """By the points that are lost as the padding grows."""
    trained = [numbers[name]["points_lost"] for name in list(CASES)[:3]]
    grows = trained[0] <= trained[1] <= trained[2]
    kind = HOLDS if grows and trained[2] >= 2 else PART if numbers["read at 180"]["points_lost"] >= 2 else NOT
    told = "; ".join(
        f"{name}: {one['points_lost']:+.1f} points (seeds {min(one['lost']):+.1f} to {max(one['lost']):+.1f})"
        for name, one in numbers.items()
    )
    turned, healthy = ([one[f"turned_{which}"] for one in numbers.values()] for which in ("broken", "healthy"))
    return Finding(
        kind,
        f"Accuracy lost by it: {told}. What it does is another thing: {min(turned):.1%} to {max(turned):.1%} of the answers "
        f"turn when a review that stood alone is padded to the full length, {max(healthy):.1%} with the mask in its place.",
    )
