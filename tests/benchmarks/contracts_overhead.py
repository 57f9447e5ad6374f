"""What the contracts cost a watched run: `python -m tests.benchmarks.contracts_overhead [--save]` prints the share of a step.

Two loops of 600 steps: a small classifier, and a small transformer with a scheduler, clipping, dropout and attention, which
calls more of what has contracts. A run with and one without contracts differ by less than a busy machine does from minute to
minute. So it is counted instead, in CPU time on one core, the quickest of some rounds each time: how long the looks of one run
take, how often a step calls what is listened to, what such a call takes when it is not looked at, and how long a bare step is.
A call that a library makes for itself is passed on at once where only the script's own lines matter, and is counted apart.
"""

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from bugzoo.contracts.observe import Observer
from bugzoo.contracts.place import is_users
from bugzoo.watching import watch
from tests.benchmarks import report
from tests.benchmarks.watch_loop import Net

STEPS, BLOCK, CALLS = 600, 20, 2000


def plain() -> Iterator[None]:
    """Yield after each step: 96 digits of 64 pixels, two hidden layers of 192."""
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.rand(960, 64), torch.randint(10, (960,))), 96, shuffle=True)
    model = Net(192)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS // 10):
        model.train()
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            loss.item()
            yield


def transformer() -> Iterator[None]:
    """Yield after each step: one encoder layer on 16 sequences of 12 tokens."""
    torch.manual_seed(0)
    embed, head = nn.Embedding(50, 32), nn.Linear(32, 50)
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    model = nn.ModuleList([embed, layer, head])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    tokens = torch.randint(50, (16, 13))
    mask = nn.Transformer.generate_square_subsequent_mask(12)
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = head(layer(embed(tokens[:, :-1]), src_mask=mask, is_causal=True))
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        yield


def bare(loop: Callable[[], Iterator[None]], rounds: int) -> float:
    """Microseconds of a step: the quickest BLOCK of all rounds."""
    best = float("inf")
    for _ in range(rounds):
        steps, count = loop(), BLOCK
        while count == BLOCK:
            began = time.process_time()
            count = sum(1 for _ in itertools.islice(steps, BLOCK))
            if count == BLOCK:
                best = min(best, (time.process_time() - began) / BLOCK * 1e6)
    return best


def looks(loop: Callable[[], Iterator[None]]) -> tuple[list[float], int, int]:
    """Microseconds of each look of one watched run, in their order; how many calls were not looked at; how many passed on."""
    took: list[float] = []
    heard = passed = 0
    look, listening = Observer._look, Observer.listening

    def timed(self: Observer, *args: Any) -> None:
        began = time.process_time()
        look(self, *args)
        took.append((time.process_time() - began) * 1e6)

    def counted(self: Observer, original: Any, some_contracts: Any, *args: Any) -> Any:
        listener = listening(self, original, some_contracts, *args)
        script_only = all(contract.own for contract in some_contracts)

        def count(*some: Any, **named: Any) -> Any:
            nonlocal heard, passed
            if script_only and not is_users(sys._getframe(1).f_code.co_filename):
                passed += 1
            else:
                heard += 1
            return listener(*some, **named)

        return count

    with mock.patch.object(Observer, "_look", timed), watch(contracts=True):
        for _ in loop():
            pass
    with mock.patch.object(Observer, "listening", counted), watch(contracts=True):
        for _ in loop():
            pass
    return took, heard - len(took) // 2, passed


def unlooked(rounds: int, of: Callable[[], Any], argument: str) -> float:
    """Microseconds that a listener takes at a call that it does not look at, below four frames of a library."""
    with watch(contracts=True):
        listener = of()
        original = listener.__wrapped__
        names: dict[str, Any] = {"call": None}
        source = f"def a(x): return call(x, {argument})\ndef b(x): return a(x)\ndef c(x): return b(x)\ndef d(x): return c(x)\n"
        exec(compile(source, nn.Module.__call__.__code__.co_filename, "exec"), names)
        x, best = torch.zeros(1, 1), {}
        for _ in range(rounds):
            for name, function in (("original", original), ("heard", listener)):
                names["call"] = function
                began = time.process_time()
                for _ in range(CALLS):
                    names["d"](x)
                best[name] = min(best.get(name, float("inf")), (time.process_time() - began) / CALLS * 1e6)
    return best["heard"] - best["original"]


def measure(loop: Callable[[], Iterator[None]], rounds: int) -> dict[str, float]:
    """us of a bare step, us of looks a step, calls a step and us of one, those passed on and us of one, and the share."""
    some = [looks(loop) for _ in range(rounds)]
    look_time = sum(map(min, zip(*(took for took, *_ in some), strict=True))) / STEPS
    calls, passed, step = some[0][1] / STEPS, some[0][2] / STEPS, bare(loop, rounds)
    call = unlooked(3 * rounds, lambda: nn.functional.dropout, "0.0")
    passing = unlooked(3 * rounds, lambda: torch.reshape, "(1, 1)")
    share = (look_time + calls * call + passed * passing) / step
    return {
        "step": step,
        "looks": look_time,
        "calls": calls,
        "call": call,
        "passed": passed,
        "passing": passing,
        "share": share,
    }


def install(rounds: int) -> float:
    """Milliseconds that one install and close takes more with contracts, the quickest."""
    best = {False: float("inf"), True: float("inf")}
    for _ in range(rounds):
        for contracts in best:
            began = time.process_time()
            with watch(contracts=contracts):
                pass
            best[contracts] = min(best[contracts], (time.process_time() - began) * 1e3)
    return best[True] - best[False]


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    numbers: dict[str, Any] = {}
    print(
        f"{'':14s} {'bare step':>10s} {'looks a step':>13s} {'other calls a step':>19s} {'one of them':>12s}"
        f" {'passed on':>10s} {'one of them':>12s} {'share':>7s}"
    )
    for loop in (plain, transformer):
        row = numbers[loop.__name__] = measure(loop, options.rounds)
        print(
            f"{loop.__name__:14s} {row['step']:7.0f} us {row['looks']:10.1f} us {row['calls']:19.1f} {row['call']:9.2f} us"
            f" {row['passed']:10.1f} {row['passing']:9.2f} us {row['share']:7.1%}"
        )
    numbers["install_ms"] = install(options.rounds)
    print(f"install and close, with contracts: {numbers['install_ms']:.1f} ms more")
    if options.save:
        report.save("contracts_overhead", {"rounds": options.rounds, **numbers}, "cpu")


if __name__ == "__main__":
    main()
