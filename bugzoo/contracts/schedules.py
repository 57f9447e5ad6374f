"""`torch.optim.lr_scheduler`: what is a factor and what a rate, and in which unit a schedule is stepped."""

from typing import Any

import torch
from torch.optim import lr_scheduler as schedulers

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_S = "torch.optim.lr_scheduler."
_STEP = _S + "LRScheduler.step"
_GENERATED = PAGES + "generated/torch.optim.lr_scheduler."
FLOOR, STUCK, NEAR_NOTHING = "loss falls little", "nothing learned", "rate near nothing"
_LENGTHS = {"OneCycleLR": "total_steps", "CosineAnnealingLR": "T_max", "PolynomialLR": "total_iters"}
NOTHING = torch.finfo(torch.float32).eps
"""A rate below this share of the first one: its steps are lost in the rounding of what the first rate's steps moved."""
CHAIN = "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr={lr})\n"


def _pace(call: Call) -> None:
    """Note how many steps the optimizer makes between two steps of the schedule."""
    schedule = call["self"]
    if (length := getattr(schedule, _LENGTHS.get(type(schedule).__name__, ""), None)) is None or schedule._is_initial:
        return
    steps, notes = call.steps_of(schedule.optimizer), call.about(schedule)
    first = notes.setdefault("first", (steps.made, schedule.last_epoch))
    notes.update(name=type(schedule).__name__, length=length, steps=steps)
    if schedule.last_epoch > first[1]:
        notes["pace"] = (steps.made - first[0]) / (schedule.last_epoch - first[1])


def _batches_as_epochs(notes: dict[str, Any]) -> Numbers | None:
    if notes.get("pace", 0) < 2:
        return None
    return {
        "name": notes["name"],
        "length": float(notes["length"]),
        "steps": float(notes["steps"].made),
        "pace": notes["pace"],
    }


def _cycle(call: Call) -> Numbers | None:
    """The period of a cosine in steps, and the shortest pass over a loader that trains."""
    shared = call.shared
    if call.target.endswith("__iter__"):
        if torch.is_grad_enabled() and not isinstance(call["self"].dataset, torch.utils.data.IterableDataset):
            shared["batches"] = min(len(call["self"]), shared.get("batches", 2**62))
            shared["passes"] = shared.get("passes", 0) + 1
        return None
    schedule = call["self"]
    if type(schedule) is schedulers.CosineAnnealingLR:
        period = 2 * schedule.T_max
    elif type(schedule) is schedulers.CosineAnnealingWarmRestarts and schedule.T_mult == 1 and call["epoch"] is None:
        period = schedule.T_0
    else:
        return None
    steps, notes = call.steps_of(schedule.optimizer), call.about(schedule)
    first, before = notes.setdefault("first", (steps.made, call.step)), notes.get("last")
    elapsed, notes["last"] = steps.made - first[0], schedule.last_epoch
    if before is None or shared.get("passes", 0) < 2 or elapsed < 2 * period or not steps.made:
        return None
    moved = schedule.last_epoch - notes.setdefault("from", 0)
    return {"period": float(period), "batches": float(shared["batches"]), "pace": elapsed / max(moved, 1)}


def _share(schedule: Any) -> float:
    groups = schedule.optimizer.param_groups
    return max(float(group["lr"]) / (float(group.get("initial_lr", 0)) or 1.0) for group in groups)


def _gone(call: Call) -> Numbers | None:
    """Since which step of the schedule the rate is nothing, at the places that are looked at."""
    schedule, notes = call["self"], call.about(call["self"])
    share = _share(schedule)
    if share > NOTHING:
        notes["above"], notes["since"] = True, None
        return None
    if "above" not in notes:
        return None
    since = notes["since"] = notes.get("since") or schedule.last_epoch
    rate = max(float(group["lr"]) for group in schedule.optimizer.param_groups)
    return {"share": share, "rate": rate, "since": float(since), "now": float(schedule.last_epoch)}


def _absolute(call: Call) -> None:
    schedule = call["self"]
    if type(schedule) is not schedulers.LambdaLR or not schedule.base_lrs or not schedule.base_lrs[0]:
        return
    notes, base = call.about(schedule), float(schedule.base_lrs[0])
    factor = float(schedule.optimizer.param_groups[0]["lr"]) / base
    if schedule.last_epoch == 0:
        notes.update(base=base, most=factor, moved=0)
    elif notes:
        notes["most"], notes["moved"] = max(notes["most"], factor), schedule.last_epoch


def _never_above(notes: dict[str, Any]) -> Numbers | None:
    return {name: float(value) for name, value in notes.items()} if notes["moved"] else None


def _powers(call: Call) -> Numbers | None:
    schedule = call["self"]
    if type(schedule) is not schedulers.MultiplicativeLR:
        return None
    notes, rate = call.about(schedule), float(schedule.optimizer.param_groups[0]["lr"])
    notes[schedule.last_epoch] = rate
    if schedule.last_epoch != 3 or not all(notes.get(step) for step in range(4)):
        return None
    first, second, third = (notes[step + 1] / notes[step] for step in range(3))
    return {"first": first, "second": second, "third": third}


def _is_powers(numbers: Numbers) -> bool:
    first, second, third = numbers["first"], numbers["second"], numbers["third"]
    return first < 1 and abs(second / first**2 - 1) < 1e-6 and abs(third / first**3 - 1) < 1e-6


CONTRACTS = (
    Contract(
        name="schedule_length_in_batches",
        on=(_STEP,),
        demand="The length of a schedule is a number of its own steps: of batches if it is stepped after each batch.",
        given="{name} is {length:.0f} steps long, the optimizer made {steps:.0f}, and {pace:.0f} for each of the schedule's.",
        instead="Call `scheduler.step()` after each `optimizer.step()`, or give the length in epochs.",
        page=_GENERATED + "OneCycleLR.html",
        kind="unit",
        measure=_pace,
        broken=lambda numbers: abs(numbers["length"] - numbers["steps"]) <= 1,
        breaks=(
            CHAIN.format(lr=0.1)
            + "schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=3, steps_per_epoch=5)\n"
            "for epoch in range(3):\n    for _ in range(5):\n        optimizer.step()\n    schedule.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.1) + "schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)\n"
            "for epoch in range(3):\n    for _ in range(5):\n        optimizer.step()\n    schedule.step()\n"
            "schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=15)\n"
            "for _ in range(15):\n    optimizer.step()\n    schedule.step()"
        ),
        wrong="A run that is stopped, by chance, after as many steps as the schedule has epochs.",
        explains=("by itself",),
        causes=("loop/scheduler_per_microbatch",),
        after=True,
        last=_batches_as_epochs,
    ),
    Contract(
        name="cosine_period_in_batches",
        on=(_STEP, _S + "CosineAnnealingWarmRestarts.step", "torch.utils.data.DataLoader.__iter__"),
        demand="`T_max` and `T_0` count the calls of `scheduler.step()`: batches, if it is called after each batch.",
        given="The rate falls and rises again every {period:.0f} batches, and a pass over the data has {batches:.0f}.",
        instead="Pass `T_max=epochs * len(loader)`, or call `scheduler.step()` once an epoch.",
        page=_GENERATED + "CosineAnnealingLR.html",
        kind="unit",
        measure=_cycle,
        broken=lambda numbers: numbers["period"] < numbers["batches"] and abs(numbers["pace"] - 1) < 0.5,
        breaks=(
            CHAIN.format(lr=0.1) + "loader = torch.utils.data.DataLoader(list(range(40)), batch_size=2)\n"
            "schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)\n"
            "for epoch in range(4):\n    for batch in loader:\n        optimizer.step()\n        schedule.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.1) + "loader = torch.utils.data.DataLoader(list(range(40)), batch_size=2)\n"
            "schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=4)\n"
            "for epoch in range(20):\n    for batch in loader:\n        optimizer.step()\n    schedule.step()\n"
            "schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=80)\n"
            "for epoch in range(4):\n    for batch in loader:\n        optimizer.step()\n        schedule.step()"
        ),
        wrong="A rate that is meant to rise and fall several times within one epoch.",
        explains=(FLOOR, STUCK),
        causes=("loop/scheduler_per_microbatch",),
    ),
    Contract(
        name="rate_decayed_away",
        on=(_STEP,),
        demand="`StepLR`, `ExponentialLR` and their like decay by calls of `scheduler.step()`, and name each call an epoch.",
        given="After {now:.0f} calls the rate is {rate:.3g}, which is {share:.1g} of the first, as since call {since:.0f}.",
        instead="Call `scheduler.step()` once an epoch, or give `step_size`, milestones or `gamma` for single batches.",
        page=_GENERATED + "StepLR.html",
        kind="unit",
        measure=_gone,
        broken=lambda numbers: numbers["now"] >= 2 * numbers["since"],
        breaks=(
            CHAIN.format(lr=0.1) + "schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)\n"
            "for _ in range(300):\n    optimizer.step()\n    schedule.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.1)
            + "schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / 300))\n"
            "for _ in range(300):\n    optimizer.step()\n    schedule.step()"
        ),
        wrong="A script that goes on for other things than training after its schedule has ended.",
        explains=(NEAR_NOTHING, FLOOR, STUCK),
        causes=("loop/scheduler_per_microbatch",),
        after=True,
    ),
    Contract(
        name="lambda_is_a_factor",
        on=(_STEP,),
        demand="The function of `LambdaLR` returns a factor of the initial learning rate, not a rate.",
        given="The function never returns more than {most:.3g}, and the initial rate is {base:.3g}.",
        instead="Return a factor, such as `0.95 ** epoch`, or give the optimizer `lr=1`.",
        page=_GENERATED + "LambdaLR.html",
        kind="unit",
        measure=_absolute,
        broken=lambda numbers: numbers["base"] < 1 and 0.5 < numbers["most"] / numbers["base"] <= 1 + 1e-6,
        breaks=(
            CHAIN.format(lr=0.01)
            + "schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.01 * min((n + 1) / 6, 6 / (n + 1)))\n"
            "for _ in range(16):\n    optimizer.step()\n    schedule.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.01)
            + "schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 100))\n"
            "for _ in range(5):\n    optimizer.step()\n    schedule.step()"
        ),
        wrong="A long warm-up, in a run that is stopped early in it.",
        explains=(FLOOR, STUCK),
        after=True,
        last=_never_above,
    ),
    Contract(
        name="multiplicative_factor",
        on=(_STEP,),
        demand="`MultiplicativeLR` multiplies the current rate by what its function returns. The powers add up by themselves.",
        given="The first three factors are {first:.3g}, {second:.3g} and {third:.3g}: a power, and its second and third power.",
        instead="Return the constant factor, or use `LambdaLR` for `factor ** epoch`.",
        page=_GENERATED + "MultiplicativeLR.html",
        kind="unit",
        measure=_powers,
        broken=_is_powers,
        breaks=(
            CHAIN.format(lr=0.1)
            + "schedule = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.9**epoch)\n"
            "for _ in range(5):\n    optimizer.step()\n    schedule.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.1)
            + "schedule = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.9)\n"
            "for _ in range(5):\n    optimizer.step()\n    schedule.step()"
        ),
        wrong="No case is known.",
        explains=("by itself",),
        after=True,
    ),
)
