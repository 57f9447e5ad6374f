"""How much slower is a training in anomaly mode?"""

import math

from bugzoo.claims._model import HOLDS, NOT, PART, Claim, Finding, Numbers, Seen
from bugzoo.claims._runs import middle, of, twins
from bugzoo.running.job import Job
from bugzoo.running.result import Run

CLAIM = Claim(
    said="torch.autograd.set_detect_anomaly(True) makes training 5 to 10 times slower.",
    by="E. Alexander, Towards Data Science, 2026: 7 to 10 times on the CPU; others say 10 to 100",
    url="https://deeptrendlab.com/article/pytorch-nans-are-silent-killers-so-i-built-a-3ms-hook-to-catch-them-at-deb177",
    tried=(
        "Six programs, and the mlp and the LSTM with wider layers, three pairs each, one run at a time: forward, backward and "
        "optimiser in anomaly mode over the healthy twin's. It holds where all ratios lie between 5 and 10, in part where one "
        "does."
    ),
    limits="A CPU. On a GPU each check waits for the device, which these runs cannot show.",
    timed=True,
)
CASES = {
    "mlp": ("mlp", {}),
    "mlp, 1024 wide": ("mlp", {"hidden_size": 1024, "batch_size": 256}),
    "digits_cnn": ("digits_cnn", {"epochs": 2}),
    "mini_transformer": ("mini_transformer", {"steps": 60}),
    "sentiment_lstm": ("sentiment_lstm", {"epochs": 1}),
    "sentiment_lstm, 256 wide": ("sentiment_lstm", {"epochs": 1, "reviews": 1500, "hidden_size": 256}),
    "sequence_classifier": ("sequence_classifier", {"epochs": 1}),
    "image_pipeline": ("image_pipeline", {"epochs": 2}),
}


def jobs() -> dict[str, Job]:
    """Each program in anomaly mode and without, in turn."""
    found: dict[str, Job] = {}
    for name, (program, settings) in CASES.items():
        found |= twins(program, "speed/anomaly_mode_left_on", name=name, **settings)
    return found


def look(run: Run) -> Numbers:
    """Milliseconds of a step without fetching its data: the median, the first two steps left out."""
    trace = run.trace
    parts = zip(trace.forward_ms[2:], trace.backward_ms[2:], trace.step_ms[2:], strict=True)
    return {"step_ms": middle(whole for one in parts if math.isfinite(whole := float(sum(one))))}


def count(seen: Seen) -> Numbers:
    """Per program: the healthy step in ms, and the ratios of the pairs."""
    found = {}
    for name in CASES:
        slow, plain = (of(seen, f"{name} {which}", "step_ms") for which in ("broken", "healthy"))
        ratios = [a / b for a, b in zip(slow, plain, strict=True)]
        found[name] = {"healthy_ms": middle(plain), "ratio": middle(ratios), "ratios": ratios}
    return found


def verdict(numbers: Numbers) -> Finding:
    """Five to ten times everywhere, somewhere, nowhere."""
    ratios = {name: one["ratio"] for name, one in numbers.items()}
    fitting = [name for name, ratio in ratios.items() if 5 <= ratio <= 10]
    least, most = min(ratios, key=lambda name: ratios[name]), max(ratios, key=lambda name: ratios[name])
    kind = HOLDS if len(fitting) == len(ratios) else PART if fitting else NOT
    return Finding(
        kind,
        f"A step takes {ratios[least]:.2f} times as long on {least} (a healthy step takes {numbers[least]['healthy_ms']:.1f} "
        f"ms there) to {ratios[most]:.2f} times on {most} ({numbers[most]['healthy_ms']:.1f} ms). {len(fitting)} of "
        f"{len(ratios)} lie between 5 and 10.",
        "The price is one of Python for each operation: many small ones pay most, and large ones hide it.",
    )
