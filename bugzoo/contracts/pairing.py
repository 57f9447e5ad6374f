"""`torch.optim.lr_scheduler`: which metric, which optimizer, and which other schedule a schedule works with."""

from itertools import pairwise
from typing import Any

from bugzoo.contracts.model import PAGES, Call, Contract, Measure, Numbers
from bugzoo.contracts.schedules import CHAIN, FLOOR, NEAR_NOTHING, STUCK

_S = "torch.optim.lr_scheduler."
_STEP, _PLATEAU = _S + "LRScheduler.step", _S + "ReduceLROnPlateau.step"
_GENERATED = PAGES + "generated/torch.optim.lr_scheduler."
_ALONE = ("OneCycleLR", "CyclicLR")


def _epoch_numbers(call: Call) -> Numbers | None:
    numbers = call.about(call["self"]).setdefault("given", [])
    if len(numbers) < 4:
        numbers.append(float(call["metrics"]))
    if len(numbers) < 4:
        return None
    return {
        "first": numbers[0],
        "last": numbers[-1],
        "counted": float(all(b - a == 1 for a, b in pairwise(numbers))),
    }


def _worse(mode: str) -> Measure:
    """Look whether the rate was cut while the metric went, from its first value, only in the direction that counts as worse."""
    sign = 1 if mode == "min" else -1

    def measure(call: Call) -> Numbers | None:
        schedule, metric = call["self"], float(call["metrics"])
        if schedule.mode != mode:
            return None
        notes, rate = call.about(schedule), float(schedule.optimizer.param_groups[0]["lr"])
        if not notes:
            notes.update(first=metric, rate=rate, latest=metric, only=schedule.last_epoch == 1)
        notes["only"] &= sign * metric >= sign * notes["latest"] and schedule.best == notes["first"]
        notes["latest"] = metric
        if rate >= notes["rate"] or metric == notes["first"]:
            return None
        return {
            "first": notes["first"],
            "now": metric,
            "from": notes["rate"],
            "rate": rate,
            "only": float(notes["only"]),
        }

    return measure


def _start(call: Call) -> Numbers:
    return {"start": float(call["start_factor"]), "end": float(call["end_factor"])}


def _others(call: Call) -> Numbers | None:
    """Other schedules that step at the same step of one optimizer."""
    schedule = call["self"]
    if schedule._is_initial:
        return None
    notes = call.about(schedule.optimizer)
    name, steps = type(schedule).__name__, call.steps_of(schedule.optimizer).made
    notes[id(schedule)] = (name, steps)
    beside = [other for key, (other, at) in notes.items() if key != id(schedule) and at == steps]
    pair = next((other for other in beside if name in _ALONE or other in _ALONE), None)
    return None if pair is None or not steps else {"name": name, "other": pair, "steps": float(steps)}


def _parameters(optimizer: Any) -> set[int]:
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}


def _replaced(call: Call) -> Numbers | None:
    """Look whether another optimizer of the same weights steps, and the schedule's own does not."""
    schedule = call["self"]
    if getattr(schedule, "_is_initial", False):
        return None
    notes, scheduled = call.about(schedule), schedule.optimizer
    counts = {id(optimizer): call.steps_of(optimizer).made for optimizer in call.optimizers}
    before, notes["made"] = notes.get("made", {}), counts
    if not before or counts.get(id(scheduled), 0) != before.get(id(scheduled), 0):
        return None
    moved = [
        optimizer
        for optimizer in call.optimizers
        if optimizer is not scheduled and counts[id(optimizer)] > before.get(id(optimizer), 0)
    ]
    steps = sum(
        counts[id(optimizer)] - before.get(id(optimizer), 0)
        for optimizer in moved
        if _parameters(optimizer) & _parameters(scheduled)
    )
    return {"steps": float(steps), "name": type(schedule).__name__} if steps else None


def _loaded(call: Call) -> Numbers | None:
    """The rate that was loaded, and the one after a warm-up was made on the same optimizer."""
    if call.target.endswith("load_state_dict"):
        optimizer = call["self"]
        call.about(optimizer).update(rate=float(optimizer.param_groups[0]["lr"]), made=call.steps_of(optimizer).made)
        return None
    optimizer, schedule = call["optimizer"], call["self"]
    notes = call.about(optimizer)
    if not notes or call.steps_of(optimizer).made != notes["made"] or schedule.last_epoch != 0:
        return None
    return {"loaded": notes["rate"], "rate": float(optimizer.param_groups[0]["lr"]), "name": type(schedule).__name__}


_WORSE = {"min": ("rises", "accuracy", "max"), "max": ("falls", "loss", "min")}

CONTRACTS = (
    Contract(
        name="plateau_metric",
        on=(_PLATEAU,),
        demand="`ReduceLROnPlateau.step` takes the metric to watch, not the number of the epoch.",
        given="The first four metrics are {first:.0f} to {last:.0f}, each one more than the one before.",
        instead="Pass the validation loss: `scheduler.step(val_loss)`.",
        page=_GENERATED + "ReduceLROnPlateau.html",
        kind="values",
        measure=_epoch_numbers,
        broken=lambda numbers: numbers["counted"] == 1 and numbers["first"] in (0, 1),
        breaks=(
            CHAIN.format(lr=0.1) + "schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)\n"
            "for epoch in range(6):\n    optimizer.step()\n    schedule.step(epoch)"
        ),
        keeps=(
            CHAIN.format(lr=0.1) + "schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode='max')\n"
            "for right in (0, 1, 2, 4, 5, 5):\n    optimizer.step()\n    schedule.step(right)"
        ),
        wrong="A count that grows by one for each call, such as a score in a game.",
        explains=("by itself",),
    ),
    *(
        Contract(
            name=f"plateau_mode_{mode}",
            on=(_PLATEAU,),
            demand=f"With `mode='{mode}'`, `ReduceLROnPlateau` cuts the rate while the metric {way}.",
            given="The metric went from {first:.4g} to {now:.4g}, was never better, and the rate from {from:.3g} to {rate:.3g}.",
            instead=f"Pass `mode='{other}'` if the metric is such as {what}.",
            page=_GENERATED + "ReduceLROnPlateau.html",
            kind="mode",
            measure=_worse(mode),
            broken=lambda numbers: numbers["only"] == 1,
            breaks=(
                CHAIN.format(lr=0.1)
                + f"schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, '{mode}', patience=2)\n"
                f"for metric in {bad}:\n    optimizer.step()\n    schedule.step(metric)"
            ),
            keeps=(
                CHAIN.format(lr=0.1)
                + f"schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, '{mode}', patience=2)\n"
                f"for metric in {good}:\n    optimizer.step()\n    schedule.step(metric)"
            ),
            wrong="Training that becomes worse from its first epoch on.",
            explains=(NEAR_NOTHING, FLOOR, STUCK),
            after=True,
        )
        for mode, (way, what, other), bad, good in (
            ("min", _WORSE["min"], [0.1, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.9], [0.9, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1]),
            ("max", _WORSE["max"], [2.3, 1.9, 1.5, 1.2, 1.1, 1.0, 0.9, 0.8], [0.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]),
        )
    ),
    Contract(
        name="linear_start_factor",
        on=(_S + "LinearLR.__init__",),
        demand="`LinearLR` starts at `start_factor` times the rate of the optimizer, which is a third unless you say otherwise.",
        given="It starts at {start:.3g} of the rate and ends at {end:.3g}: the rate that the optimizer was given is never used.",
        instead="For a decay pass `start_factor=1.0`; for a warm-up leave `end_factor` at 1.",
        page=_GENERATED + "LinearLR.html",
        kind="unit",
        measure=_start,
        broken=lambda numbers: numbers["end"] < numbers["start"] < 1,
        breaks=CHAIN.format(lr=0.1) + "torch.optim.lr_scheduler.LinearLR(optimizer, end_factor=0.1, total_iters=20)",
        keeps=(
            CHAIN.format(lr=0.1) + "torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=20)\n"
            "torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, 20)"
        ),
        wrong="The last part of a schedule, which goes on from where another part ended.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="schedule_not_chainable",
        on=(_STEP,),
        demand="`OneCycleLR` and `CyclicLR` cannot be chained: each step sets the rate anew, whatever another schedule did.",
        given="{name} and {other} both step after step {steps:.0f} of one optimizer.",
        instead="Use one of them, or put one after the other with `SequentialLR`.",
        page=_GENERATED + "OneCycleLR.html",
        kind="shared object",
        measure=_others,
        broken=lambda numbers: numbers["steps"] > 0,
        breaks=(
            CHAIN.format(lr=0.1) + "some = torch.optim.lr_scheduler\n"
            "both = some.OneCycleLR(optimizer, 0.1, total_steps=9), some.ExponentialLR(optimizer, 0.9)\n"
            "for _ in range(4):\n    optimizer.step()\n    for one in both: one.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.1) + "some = torch.optim.lr_scheduler\n"
            "first, then = some.LinearLR(optimizer, total_iters=3), some.OneCycleLR(optimizer, 0.1, total_steps=9)\n"
            "for step in range(8):\n    optimizer.step()\n    (first if step < 3 else then).step()"
        ),
        wrong="A schedule of the momentum that leaves the rate alone.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="schedule_of_old_optimizer",
        on=(_STEP, _PLATEAU),
        demand="A schedule changes the rate of the optimizer that it was made with.",
        given="{name} was stepped; its optimizer made no step since, and another one of the same weights made {steps:.0f}.",
        instead="Make the schedule anew with the optimizer that steps.",
        page=PAGES + "optim.html#how-to-adjust-learning-rate",
        kind="shared object",
        measure=_replaced,
        broken=lambda numbers: numbers["steps"] > 0,
        breaks=(
            CHAIN.format(lr=0.1) + "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)\n"
            "for step in range(8):\n    if step == 2: optimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
            "    optimizer.step()\n    schedule.step()"
        ),
        keeps=(
            CHAIN.format(lr=0.1) + "other = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)\n"
            "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)\n"
            "for step in range(8):\n    (other if step % 4 else optimizer).step()\n    schedule.step()"
        ),
        wrong="Two optimizers that take turns with the same weights, of which only one has a schedule.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="warmup_after_loading",
        on=("torch.optim.Optimizer.load_state_dict", _S + "LinearLR.__init__", _S + "ConstantLR.__init__"),
        demand="`optimizer.load_state_dict` is called after the schedule is made, which would overwrite the loaded rate.",
        given="The loaded rate {loaded:.3g} became {rate:.3g} when {name} was made.",
        instead="Make the schedule first, then load the states of the schedule and of the optimizer.",
        page=PAGES + "generated/torch.optim.Optimizer.load_state_dict.html",
        kind="order of calls",
        measure=_loaded,
        broken=lambda numbers: numbers["rate"] != numbers["loaded"],
        breaks=(
            CHAIN.format(lr=0.1) + "optimizer.load_state_dict(optimizer.state_dict())\n"
            "torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1)"
        ),
        keeps=(
            CHAIN.format(lr=0.1) + "saved = optimizer.state_dict()\n"
            "torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1)\noptimizer.load_state_dict(saved)"
        ),
        wrong="A new warm-up on purpose, for training that starts from a checkpoint.",
        explains=(FLOOR, STUCK),
        after=True,
    ),
)
