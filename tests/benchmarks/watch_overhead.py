"""What watching costs: `python tests/benchmarks/watch_overhead.py` prints a table of ratios to the bare loop.

One run, one process. The loop is that of `bugzoo/programs/mlp.py` (batches of 32 from a DataLoader, Adam), and again
with batches and layers that make a step last about 1 ms. The variants take turns, block by block, in changing order, so
that a busy machine slows all of them alike; a variant's ratio is the median over rounds of its time over the bare
loop's in the same round. On the CPU the time is the process's CPU time, which other processes do not stretch; on CUDA
it is the clock's.
"""

import argparse
import datetime
import gc
import json
import os
import platform
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from bugzoo.watching import watch

RESULTS = Path(__file__).parent / "results"
SIZES = {"mlp as it is": (32, 128), "mlp, about 1 ms a step": (96, 192)}
EPOCHS = 20


class Net(nn.Module):
    def __init__(self, hidden_size: int):
        super().__init__()
        self.layer1 = nn.Linear(64, hidden_size)
        self.layer2 = nn.Linear(hidden_size, hidden_size)
        self.head = nn.Linear(hidden_size, 10)
        self.broken = False

    def forward(self, inputs):
        hidden = F.relu(self.layer1(inputs))
        hidden = self.layer2(hidden)
        if self.broken:
            hidden = torch.log(hidden - hidden.min())
        hidden = F.relu(hidden)
        return self.head(hidden)


def train(
    model: nn.Module,
    loader: DataLoader,
    device: str,
    epochs: int,
    each: Callable[..., None] | None = None,
    break_at: int = -1,
) -> int:
    """The program's loop. `each` is what a user would write into it to watch by hand."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    losses = []
    for _ in range(epochs):
        model.train()
        for inputs, targets in loader:
            inputs, targets = inputs.to(device), targets.to(device)
            optimizer.zero_grad()
            if step == break_at:
                model.broken = True
            logits = model(inputs)
            loss = F.cross_entropy(logits, targets)
            loss.backward()
            if each is not None:
                each(step, model, loss)
            optimizer.step()
            step += 1
            losses.append(loss.item())
    return step


@contextmanager
def nan_hooks(model: nn.Module) -> Iterator[None]:
    """A NaN check after every layer, forward and backward."""

    def look(module: nn.Module, inputs: Any, output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        for tensor in outputs:
            if tensor is not None and not torch.isfinite(tensor).all():
                raise RuntimeError(f"not finite: {type(module).__name__}")

    handles = [m.register_forward_hook(look) for m in model.modules()]
    handles += [m.register_full_backward_hook(look) for m in model.modules()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first layer's inputs need no gradient: nothing to look at there
        yield
    for handle in handles:
        handle.remove()


@contextmanager
def anomaly(model: nn.Module) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            yield


def tensorboard(folder: str) -> Callable[..., None]:
    """Loss and per-layer gradient norms to TensorBoard, every step."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(folder)

    def each(step: int, model: nn.Module, loss: torch.Tensor) -> None:
        writer.add_scalar("loss", loss.item(), step)
        for name, parameter in model.named_parameters():
            writer.add_scalar(f"norm/{name}", parameter.grad.norm().item(), step)

    return each


def block(variant: str, loader: DataLoader, hidden: int, device: str, folder: str) -> float:
    """Microseconds per step of one run."""
    torch.manual_seed(0)
    model = Net(hidden).to(device)
    around: Any = nullcontext()
    each, break_at = None, -1
    if variant.startswith("watch"):
        around = watch()
    elif variant == "NaN hooks on every layer":
        around = nan_hooks(model)
    elif variant == "anomaly mode":
        around = anomaly(model)
    elif variant == "norms to TensorBoard":
        each = tensorboard(folder)
    if "NaN at" in variant:
        break_at = EPOCHS * len(loader) // 2
    if device == "cuda":
        torch.cuda.synchronize()
    clock = time.perf_counter if device == "cuda" else time.process_time
    began = clock()
    with around as trace:
        steps = train(model, loader, device, EPOCHS, each, break_at)
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = clock() - began
    if variant.startswith("watch") and break_at >= 0:
        event = trace.first_non_finite()
        assert event is not None and (event.step, event.data["op"]) == (break_at + 1, "log"), event
    return seconds / steps * 1e6


VARIANTS = (
    "bare", "watch()", "NaN hooks on every layer", "anomaly mode", "norms to TensorBoard",
    "bare, NaN at half time", "watch(), NaN at half time and its cause found",
)  # fmt: skip


def measure(batch: int, hidden: int, device: str, rounds: int) -> dict[str, dict[str, float]]:
    """{variant: {"us_per_step", "ratio", "low", "high", ...}}: ratio to the same round's bare loop, and quartiles."""
    digits = load_digits()
    images = torch.tensor(digits.data[:1150], dtype=torch.float32) / 16
    loader = DataLoader(TensorDataset(images, torch.tensor(digits.target[:1150])), batch, shuffle=True)
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    order = list(VARIANTS)
    with tempfile.TemporaryDirectory() as folder:
        for name in VARIANTS:  # warm up
            block(name, loader, hidden, device, folder)
        for _ in range(rounds):
            random.Random(len(times["bare"])).shuffle(order)
            for name in order:
                gc.collect()
                times[name].append(block(name, loader, hidden, device, folder))
    result = {}
    for name, some in times.items():
        base = times["bare, NaN at half time"] if "NaN at" in name else times["bare"]
        ratios = sorted(a / b for a, b in zip(some, base, strict=True))
        low, _, high = statistics.quantiles(ratios, n=4)
        result[name] = {
            "us_per_step": statistics.median(some), "ratio": statistics.median(ratios), "low": low, "high": high,
            "ratio_of_fastest": min(some) / min(base),
        }  # fmt: skip
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-file", action="store_true", help="print only")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    report: dict[str, Any] = {
        "what": "watch_overhead", "date": datetime.date.today().isoformat(), "torch": torch.__version__,
        "python": platform.python_version(), "machine": platform.machine(), "threads": options.threads,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu", "rounds": options.rounds,
        "load_before": round(os.getloadavg()[0], 2),
        "results": {},
    }  # fmt: skip
    for title, (batch, hidden) in SIZES.items():
        found = report["results"][title] = measure(batch, hidden, options.device, options.rounds)
        print(f"\n{title} (batch {batch}, hidden {hidden}, {options.threads} threads, {report['device']})")
        print(f"{'':48s} {'us/step':>8s} {'ratio':>7s} {'quartiles':>15s} {'of fastest':>11s}")
        for name, row in found.items():
            spread, ratio = f"{row['low']:.3f} - {row['high']:.3f}", row["ratio"]
            print(f"{name:48s} {row['us_per_step']:8.0f} {ratio:7.3f} {spread:>15s} {row['ratio_of_fastest']:11.3f}")
    if not options.no_file:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"watch_overhead_{options.device}_{report['date']}.json"
        path.write_text(json.dumps(report, indent=1) + "\n")
        print(f"\nwritten to {path.relative_to(Path(__file__).parents[2])}")


if __name__ == "__main__":
    main()
