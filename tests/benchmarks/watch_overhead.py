"""What watching costs: `python -m tests.benchmarks.watch_overhead` prints a table of ratios to the bare loop.

The loop is that of `bugzoo/programs/mlp.py` (batches from a DataLoader, Adam) as it is, and with batches and layers that
make a step last about 1 ms. Everything runs in one process on one core: each variant beside a bare run of its own, now
the one first, now the other, so that a busy machine slows both alike. A ratio is the median over rounds, with the
quartiles. On the CPU the time is the process's CPU time, which waiting for the core does not stretch; on CUDA it is the
clock's. The last row's runs become NaN at half time; its watch finds step, module, operation and line, and that is timed.
"""

import gc
import os
import statistics
import time
from contextlib import nullcontext
from typing import Any

import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from bugzoo.watching import watch
from tests.benchmarks import report
from tests.benchmarks.watch_loop import Net, anomaly, nan_hooks, tensorboard, train

SIZES = {"mlp as it is": (32, 128, 20), "mlp, about 1 ms a step": (96, 192, 60)}
"""Batch size, hidden size, epochs: 720 steps each."""
WATCHED, FOUND, TENSORBOARD = "watch()", "watch(), NaN at half time found", "norms to TensorBoard"
VARIANTS = (WATCHED, FOUND, "NaN hooks on every layer", TENSORBOARD, "anomaly mode")


def block(variant: str, loader: DataLoader, hidden: int, epochs: int, device: str, broken: bool) -> float:
    """Microseconds per step of one run; `broken`: it becomes NaN at half time."""
    torch.manual_seed(0)
    model = Net(hidden).to(device)
    around: Any = nullcontext()
    break_at = epochs * len(loader) // 2 if broken else -1
    if variant in (WATCHED, FOUND):
        around = watch()
    elif variant == "NaN hooks on every layer":
        around = nan_hooks(model)
    elif variant == "anomaly mode":
        around = anomaly()
    elif variant == TENSORBOARD:
        around = tensorboard()
    gc.collect()
    if device == "cuda":
        torch.cuda.synchronize()
    clock = time.perf_counter if device == "cuda" else time.process_time
    began = clock()
    with around as watcher:
        each = watcher if variant == TENSORBOARD else None
        steps = train(model, loader, device, epochs, each, break_at)
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = clock() - began
    if variant == FOUND:
        event = watcher.first_non_finite()
        place = event and (event.step, event.data["op"], event.data["module"], bool(event.data["line"]))
        assert place == (break_at + 1, "log", "Net", True), event
    return seconds / steps * 1e6


def measure(batch: int, hidden: int, epochs: int, device: str, rounds: int) -> dict[str, dict[str, float]]:
    """{variant: {"us_per_step", "bare_us_per_step", "ratio", "low", "high"}}; low and high are quartiles."""
    digits = load_digits()
    images = torch.tensor(digits.data[:1150], dtype=torch.float32) / 16
    loader = DataLoader(TensorDataset(images, torch.tensor(digits.target[:1150])), batch, shuffle=True)
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
    for turn in range(-1, rounds):  # the first turn warms up
        for name in VARIANTS:
            times = {}
            for variant in (name, "bare") if turn % 2 else ("bare", name):
                times[variant] = block(variant, loader, hidden, epochs, device, broken=name == FOUND)
            if turn >= 0:
                pairs[name].append((times[name], times["bare"]))
    result = {}
    for name, some in pairs.items():
        ratios = [cost / bare for cost, bare in some]
        low, middle, high = statistics.quantiles(ratios, n=4)
        result[name] = {
            "us_per_step": statistics.median([cost for cost, _ in some]),
            "bare_us_per_step": statistics.median([bare for _, bare in some]),
            "ratio": middle, "low": low, "high": high,
        }  # fmt: skip
    return result


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    numbers: dict[str, Any] = {}
    for title, size in SIZES.items():
        rows = numbers[title] = measure(*size, options.device, options.rounds)
        print(f"\n{title} (batch {size[0]}, hidden {size[1]}, one thread, {options.device})")
        print(f"{'':34s} {'us/step':>8s} {'bare':>8s} {'ratio':>7s} {'quartiles':>15s}")
        for name, row in rows.items():
            spread = f"{row['low']:.3f} - {row['high']:.3f}"
            print(
                f"{name:34s} {row['us_per_step']:8.0f} {row['bare_us_per_step']:8.0f} {row['ratio']:7.3f} {spread:>15s}"
            )
    if options.save:
        report.save("watch_overhead", {"rounds": options.rounds, **numbers}, options.device)


if __name__ == "__main__":
    main()
