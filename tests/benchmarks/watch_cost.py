"""What `watch()` costs in a step, model by model: `python -m tests.benchmarks.watch_cost` prints ratios to the bare loop.

A bare run and a watched one take turns in one process, on one thread, and note when each of their steps ended. On the CPU
the clock is the thread's own CPU time, which waiting for a processor does not stretch. What other programs do to the caches
does, so of all runs' times for step 1, step 2, ... the lower quartile counts. `usual` is the median step's ratio. `long` is
that of a run of 1000 steps, put together from two means: of the steps that the watch looks at more closely, 15 of a thousand,
and of all others. `run` is the median of the ratios of whole short runs, with all that begins and ends a watch and with the
snapshots, whose place varies: it says what a small exercise pays. `call` is a call without gradients, in a validation. `rewind`
is a whole short run under `watch(rewind=True)` beside one under `watch()`: what it costs that any step can be gone back to.

Below, where the watch's own time goes: the mean over all steps of the short run, less the clock's own, and the median call.
"""

import gc
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from bugzoo import programs
from bugzoo.watching import watch
from bugzoo.watching.alive import Alive
from bugzoo.watching.forwards import Forwards
from bugzoo.watching.history import History
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.schedule import sampled
from tests.benchmarks import report
from tests.benchmarks.watch_loop import Net

Made = tuple[nn.Module, Any]
"""A model and the batches of an epoch."""
PARTS: dict[str, tuple[Any, str]] = {
    "before forward": (Forwards, "_before"), "of it, snapshots": (History, "_take"),
    "module statistics": (Forwards, "_after"), "before backward": (Recorder, "before_backward"),
    "of it, graphs marked": (Alive, "add"), "after backward": (Recorder, "after_backward"),
    "before step": (Recorder, "before_step"), "after step": (Recorder, "after_step"),
}  # fmt: skip
LONG = 1000
"""Steps of the run that `long` speaks of."""


def mlp() -> Made:
    """The program's network and loader, with batches and layers that make a step last about 1 ms."""
    rows = TensorDataset(torch.rand(1150, 64), torch.randint(0, 10, (1150,)))
    return Net(192), DataLoader(rows, 96, shuffle=True)


def mini_transformer() -> Made:
    """The program's own model and batches."""
    names: dict[str, Any] = {"__name__": "mini_transformer"}
    exec(programs.load("mini_transformer").source.split("# %% Training")[0], names)
    batches = [names["batch"](names["train_codes"], names["batch_size"]) for _ in range(12)]
    return names["model"], batches


def resnet18() -> Made:
    """torchvision's, for small pictures: batches of 8 with 48 x 48 pixels."""
    from torchvision.models import resnet18 as made

    return made(num_classes=10), [(torch.rand(8, 3, 48, 48), torch.randint(0, 10, (8,))) for _ in range(3)]


MODELS: dict[str, tuple[Callable[[], Made], int, int]] = {
    "mlp": (mlp, 240, 12), "mini_transformer": (mini_transformer, 40, 5), "resnet18": (resnet18, 12, 3),
}  # fmt: skip
"""What makes it, steps of a run, pairs of runs."""


def train(model: nn.Module, batches: Any, device: str, steps: int) -> list[float]:
    """The seconds of each step, on the thread's clock; on CUDA on the wall's, after every tenth step's work is done."""
    cuda = device == "cuda"
    clock = time.perf_counter if cuda else time.thread_time
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    times, losses = [clock()], []
    while len(times) <= steps:
        model.train()
        for inputs, targets in batches:
            inputs, targets = inputs.to(device), targets.to(device)
            optimizer.zero_grad()
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, -2), targets.flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            if cuda and len(times) % 10 == 0:
                torch.cuda.synchronize()
            times.append(clock())
            if len(times) > steps:
                break
    return [after - before for before, after in pairwise(times)]


def validate(model: nn.Module, batches: Any, device: str) -> None:
    model.eval()
    with torch.no_grad():
        for inputs, _ in batches:
            model(inputs.to(device)).argmax(-1)
    model.train()


def validation(name: str, device: str, watched: bool) -> float:
    """Seconds of a call without gradients, in validations between a few steps of training; the lower quartile of them."""
    model, batches = fresh(name, device)
    batches = list(batches)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    taken = []
    with watch() if watched else nullcontext():
        for _ in range(5):
            for inputs, targets in batches[:1]:
                logits = model(inputs.to(device))
                F.cross_entropy(logits.flatten(0, -2), targets.to(device).flatten()).backward()
                optimizer.step()
                optimizer.zero_grad()
            clock = time.perf_counter if device == "cuda" else time.thread_time
            began = clock()
            validate(model, batches, device)
            if device == "cuda":
                torch.cuda.synchronize()
            taken.append((clock() - began) / len(batches))
    return statistics.quantiles(taken, n=4)[0]


def fresh(name: str, device: str) -> Made:
    torch.manual_seed(0)
    model, batches = MODELS[name][0]()
    gc.collect()
    return model.to(device), batches


def in_turn(turns: int, one: Callable[[bool], Any]) -> tuple[list[Any], list[Any]]:
    """What `one` returned bare and watched, the two in turn, each of them first as often as the other."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for turn in range(-1, turns):  # the first turn warms up
        for watched in (True, False) if turn % 2 else (False, True):
            result = one(watched)
            if turn >= 0:
                found[watched].append(result)
    return found


def ratios(name: str, device: str, rounds: int) -> dict[str, float]:
    """Microseconds of a bare step and of a call without gradients, the ratios, and what a watch adds to the usual of each."""
    _, steps, turns = MODELS[name]

    def one(watched: bool) -> tuple[list[float], float]:
        model, batches = fresh(name, device)
        clock = time.perf_counter if device == "cuda" else time.thread_time
        began = clock()
        with watch() if watched else nullcontext():
            times = train(model, batches, device, steps)
        return times, clock() - began

    found = in_turn(max(3, turns * rounds // 4), one)
    bare, watched = (
        [statistics.quantiles(some, n=4)[0] * 1e6 for some in zip(*[times for times, _ in runs], strict=True)]
        for runs in found
    )
    share = sum(map(sampled, range(1, LONG + 1))) / LONG
    more = [after - before for before, after in zip(bare, watched, strict=True)]
    usual = statistics.mean([one for step, one in enumerate(more, 1) if not sampled(step)])
    looked = statistics.mean([one for step, one in enumerate(more, 1) if sampled(step) and step > 2])
    calls = in_turn(max(3, rounds), lambda seen: validation(name, device, seen))
    plain, noted = (statistics.median(some) * 1e6 for some in calls)

    def whole(rewind: bool) -> float:
        model, batches = fresh(name, device)
        clock = time.perf_counter if device == "cuda" else time.thread_time
        began = clock()
        with watch(rewind=rewind):
            train(model, batches, device, steps)
        return clock() - began

    kept = in_turn(max(3, turns * rounds // 4), whole)
    return {
        "bare_us": statistics.median(bare),
        "usual": statistics.median(watched) / statistics.median(bare),
        "long": 1 + (usual + (looked - usual) * share) / statistics.mean(bare),
        "run": statistics.median([after / before for (_, before), (_, after) in zip(*found, strict=True)]),
        "more_us": statistics.median(watched) - statistics.median(bare),
        "sampled_step_more_us": looked,
        "rewind": statistics.median([after / before for before, after in zip(*kept, strict=True)]),
        "call_bare_us": plain, "call": noted / plain, "call_more_us": noted - plain,
    }  # fmt: skip


@contextmanager
def clocked() -> Iterator[dict[str, list[int]]]:
    """Nanoseconds of each call of PARTS."""
    taken: dict[str, list[int]] = defaultdict(list)
    kept = []

    def around(name: str, original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time_ns()
            result = original(*args, **kwargs)
            taken[name].append(time.thread_time_ns() - began)
            return result

        return call

    for name, (place, method) in PARTS.items():
        kept.append((place, method, getattr(place, method)))
        setattr(place, method, around(name, getattr(place, method)))
    try:
        yield taken
    finally:
        for place, method, original in kept:
            setattr(place, method, original)


def parts(name: str, device: str) -> dict[str, dict[str, float]]:
    """{part: {"mean_us", "usual_us"}}: mean over all steps, and the median of the calls."""
    steps = MODELS[name][1]
    empty = [-time.thread_time_ns() + time.thread_time_ns() for _ in range(999)]
    clock, runs = statistics.median(empty), 3
    with clocked() as taken:
        for _ in range(runs):
            model, batches = fresh(name, device)
            with watch():
                train(model, batches, device, steps)
    return {
        part: {
            "mean_us": sum(max(0.0, one - clock) for one in taken[part]) / steps / runs / 1e3,
            "usual_us": max(0.0, statistics.median(taken[part]) - clock) / 1e3,
        }
        for part in PARTS
        if taken[part]
    }


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="more of them are steadier")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--no-parts", action="store_true")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("skipped: torch finds no CUDA device here")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    numbers: dict[str, Any] = {}
    print(f"one thread, {options.device}; times in us, ratios to the bare loop")
    print(
        f"{'':18s}{'bare':>8s}{'more':>7s}{'usual':>8s}{'long':>7s}{'run':>7s}{'rewind':>8s}"
        f"{'bare call':>12s}{'more':>7s}{'call':>7s}"
    )
    for name in options.models:
        row: dict[str, Any] = ratios(name, options.device, options.rounds)
        numbers[name] = row
        print(
            f"{name:18s}{row['bare_us']:8.0f}{row['more_us']:7.0f}{row['usual']:8.3f}{row['long']:7.3f}{row['run']:7.3f}"
            f"{row['rewind']:8.3f}{row['call_bare_us']:12.0f}{row['call_more_us']:7.0f}{row['call']:7.3f}",
            flush=True,
        )
    for name in () if options.no_parts else options.models:
        found = numbers[name]["parts"] = parts(name, options.device)
        print(f"\n{name}: where the watch's own time goes{'':4s} {'mean us':>8s} {'usual':>8s}")
        for part, times in found.items():
            print(f"  {part:40s} {times['mean_us']:8.1f} {times['usual_us']:8.1f}")
    if options.save:
        report.save("watch_cost", {"rounds": options.rounds, **numbers}, options.device)


if __name__ == "__main__":
    main()
