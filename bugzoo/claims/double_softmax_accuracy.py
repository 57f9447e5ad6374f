"""What does a softmax too many cost in accuracy?"""

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import ended, middle, of, twins
from bugzoo.running.job import Job

CLAIM = Claim(
    said="A softmax before cross-entropy costs some nine points of accuracy: 82 % instead of 91 %.",
    by="Folklore with changing numbers; somebody who tried it on CIFAR-10 saw the accuracy drop to around 35 %",
    url="https://exchangetuts.com/shall-i-apply-softmax-before-cross-entropy-closed-1641706924177544",
    tried=(
        "Six classifiers at their short setting, mlp and digits_cnn at their full length too, three seeds. It holds where "
        "each loses 6 to 12 points, in part where some do."
    ),
    limits="Small data sets; with hundreds of classes the squeezed gradient costs more, and here nothing has more than ten.",
)
CASES = {
    "mlp": ("mlp", "tiny"),
    "mlp, full length": ("mlp", "full"),
    "digits_cnn": ("digits_cnn", "tiny"),
    "digits_cnn, full length": ("digits_cnn", "full"),
    "finetune": ("finetune", "tiny"),
    "image_pipeline": ("image_pipeline", "tiny"),
    "sentiment_lstm": ("sentiment_lstm", "tiny"),
    "sequence_classifier": ("sequence_classifier", "tiny"),
}
look = ended


def jobs() -> dict[str, Job]:
    """Each program with the softmax and without."""
    found: dict[str, Job] = {}
    for name, (program, size) in CASES.items():
        found |= twins(program, "loss/double_softmax", name=name, size=size)
    return found


def count(seen: Seen) -> Numbers:
    """Per program the two accuracies, medians over the seeds, and the points between them."""
    found = {}
    for name in CASES:
        right, wrong = (middle(of(seen, f"{name} {which}", "accuracy")) for which in ("healthy", "broken"))
        found[name] = {"healthy": right, "broken": wrong, "points_lost": 100 * (right - wrong)}
    return found


def verdict(numbers: Numbers) -> Finding:
    """Nine points, more or less three, everywhere, somewhere or nowhere."""
    lost = {name: one["points_lost"] for name, one in numbers.items()}
    fitting = [name for name, points in lost.items() if 6 <= points <= 12]
    least, most = min(lost, key=lambda name: lost[name]), max(lost, key=lambda name: lost[name])
    kind = HOLDS if len(fitting) == len(lost) else PART if fitting else NOT
    return Finding(
        kind,
        f"Between {lost[least]:.1f} points ({least}) and {lost[most]:.1f} ({most}: {numbers[most]['broken']:.0%} instead of "
        f"{numbers[most]['healthy']:.0%}) are lost, and 6 to 12 on {len(fitting)} of {len(lost)}. Trained for longer the "
        f"mlp loses {lost['mlp, full length']:.1f} instead of {lost['mlp']:.1f}, digits_cnn "
        f"{lost['digits_cnn, full length']:.1f} instead of {lost['digits_cnn']:.1f}.",
        "It is slower above all; the loss shows it where the accuracy does not.",
    )
