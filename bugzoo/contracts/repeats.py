"""What a run repeats without saying so: batches that are kept, and random numbers that are drawn again."""

import dis
import itertools
from types import FrameType
from typing import Any

import torch
from torch.utils.data import Subset

from bugzoo.contracts.datasets import names_in
from bugzoo.contracts.model import PAGES, Call, Contract, Numbers
from bugzoo.contracts.place import is_users

_ZERO = ("torch.optim.Optimizer.zero_grad", "torch.nn.Module.zero_grad")
_RANDOM = ("rand", "transform", "augment", "jitter", "noise")
"""What a name holds that stands for something random."""
_STEPS = "model = nn.Linear(1, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
_BATCHES = (
    "import itertools\nfrom torch.utils.data import DataLoader\nclass Noisy:\n    def __len__(self): return 8\n"
    "    def __getitem__(self, index): return index + torch.randn(())\nloader = DataLoader({}, 2, shuffle=True)\n"
    + _STEPS
)
_SEEDED = (
    _STEPS + "for epoch in range(5):\n    optimizer.zero_grad()\n    model(torch.rand(1, 1)).sum().backward()\n"
    "    optimizer.step()\n    {}\n"
)


def _draws(dataset: Any) -> bool:
    """Return whether the script's own dataset seems to draw something at random for each sample."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    code = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    if code is None or not is_users(code.co_filename):
        return False
    return any(word in name for name in names_in(code, {}, type(dataset), set()) for word in _RANDOM)


def _for_cycle(frame: FrameType) -> bool:
    """Return whether the line at work loads `itertools.cycle`. That class itself is left alone: torch.compile knows it."""
    code = dis.get_instructions(frame.f_code)
    loaded = {
        one.argval
        for one in code
        if one.positions and one.positions.lineno == frame.f_lineno and one.opname.startswith("LOAD_")
    }
    names = {**frame.f_globals, **frame.f_locals}
    values = [names[one] for one in loaded if isinstance(one, str) and one in names]
    return any(one is itertools.cycle for one in values) or (
        "cycle" in loaded and any(one is itertools for one in values)
    )


def _cycled(call: Call) -> Numbers | None:
    """Look whether training has gone on for longer than one pass over a loader of random samples that `cycle` repeats."""
    shared = call.shared
    if call.target.endswith("__iter__"):
        loader = call["self"]
        if call.frame is not None and _for_cycle(call.frame) and _draws(loader.dataset):
            shared.update(site=call.site, batches=len(loader), made=call.made)
        return None
    if "site" not in shared:
        return None
    call.site = shared["site"]
    return {"batches": float(shared["batches"]), "steps": float(call.made - shared["made"])}


def _again(call: Call) -> Numbers | None:
    """Look whether the same seed is set while one optimizer goes on, and all since the last time drew the same numbers.

    The state before the seed is what that draw left. A state that is put back afterwards, as by `fork_rng`, goes on.
    """
    state, counts = torch.get_rng_state(), {counter: counter.made for counter in map(call.steps_of, call.optimizers)}
    before, call.kept["before"] = call.kept.get("before"), (call["seed"], state, counts)
    if before is None or before[0] != call["seed"]:
        return None
    trained = any(0 < before[2].get(counter, 0) < steps for counter, steps in counts.items())
    same = trained and torch.equal(before[1], state)
    call.kept["times"] = call.kept.get("times", 0) + 1 if same else 0
    return {"times": call.kept["times"] + 1.0, "seed": str(call["seed"])}


CONTRACTS = (
    Contract(
        name="cycle_keeps_the_batches",
        on=("torch.utils.data.DataLoader.__iter__", *_ZERO),
        demand="`itertools.cycle` keeps what its first pass gave, and repeats it: the loader is not asked again.",
        given="{steps:.0f} steps were made from {batches:.0f} batches, whose random numbers were drawn once.",
        instead="Write `while True: yield from loader` in a generator function, which starts a new pass each time.",
        page="https://docs.python.org/3/library/itertools.html#itertools.cycle",
        kind="used twice",
        measure=_cycled,
        broken=lambda numbers: numbers["steps"] > numbers["batches"],
        breaks=_BATCHES.format("Noisy()") + "for _, batch in zip(range(40), itertools.cycle(loader)):\n"
        "    optimizer.zero_grad()\n    model(batch[:, None].float()).sum().backward()\n    optimizer.step()",
        keeps=(
            _BATCHES.format("Noisy()") + "def again():\n    while True: yield from loader\n"
            "for _, batch in zip(range(40), again()):\n    optimizer.zero_grad()\n    optimizer.step()\n"
            + _BATCHES.format("range(8)")
            + "for _, batch in zip(range(40), itertools.cycle(loader)):\n    optimizer.zero_grad()"
        ),
        wrong="Samples that are drawn at random once, and are meant to stay so.",
        explains=("by itself",),
    ),
    Contract(
        name="same_seed_again",
        on=("torch.manual_seed",),
        demand="`torch.manual_seed` sets the one generator that shuffling, dropout and noise draw from.",
        given="While training goes on it is set to {seed} again, after the same numbers were drawn {times:.0f} times.",
        instead="Seed once, and give the line that needs its own numbers `generator=torch.Generator().manual_seed(seed)`.",
        page=PAGES + "generated/torch.manual_seed.html",
        kind="shared object",
        measure=_again,
        broken=lambda numbers: numbers["times"] >= 2,
        breaks=_SEEDED.format("torch.manual_seed(0)"),
        keeps=(
            _SEEDED.format("with torch.random.fork_rng(): torch.manual_seed(0)")
            + _SEEDED.format("torch.manual_seed(epoch)")
            + "for rate in (1, 2, 3, 4):\n    torch.manual_seed(0)\n    "
            + _SEEDED.replace("\n", "\n    ").format("pass")
        ),
        wrong="The same noise in each epoch on purpose, as in an evolution strategy.",
        explains=("by itself",),
        causes=("reproducibility/seed_inside_loop",),
    ),
)
