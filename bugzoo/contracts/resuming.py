"""Training that goes on from a checkpoint: the schedule belongs to the state."""

import inspect
from typing import Any

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_S = "torch.optim.lr_scheduler."
_BY_RATE = ("ExponentialLR", "MultiplicativeLR", "ConstantLR")
"""Schedules that go on from the rate that they find, whatever their own count of epochs."""
_FIRST = (
    "def made():\n    model = nn.Linear(2, 2)\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "    return optimizer, torch.optim.lr_scheduler.{0}\n"
    "optimizer, schedule = made()\nfor epoch in range(4):\n    optimizer.step()\n    schedule.step()\n"
    "saved = optimizer.state_dict(), schedule.state_dict()\noptimizer, schedule = made()\noptimizer.load_state_dict(saved[0])\n"
)
_COSINE = "CosineAnnealingLR(optimizer, 8)"
_GO_ON = "for epoch in range(4):\n    optimizer.step()\n    schedule.step()"


def _anew(call: Call) -> Numbers | None:
    """Look at a schedule's first step on an optimizer whose loaded rate another schedule had changed."""
    if call.target.endswith("Optimizer.load_state_dict"):
        groups: Any = call["state_dict"]["param_groups"]
        changed = [group for group in groups if "initial_lr" in group and group["lr"] != group["initial_lr"]]
        notes = call.about(call["self"])
        notes.clear()
        if changed:
            notes.update(loaded=float(changed[0]["lr"]), initial=float(changed[0]["initial_lr"]), site=call.site)
        return None
    schedule = call["self"]
    notes = call.about(schedule.optimizer)
    if call.target.endswith("load_state_dict"):
        notes.clear()
        return None
    if "loaded" not in notes or getattr(schedule, "_is_initial", False):
        return None
    numbers, name = dict(notes), type(schedule).__name__
    notes.clear()
    call.site = numbers.pop("site")
    return {**numbers, "epoch": float(schedule.last_epoch), "name": name, "by_rate": float(name in _BY_RATE)}


def _overwritten(call: Call) -> Numbers | None:
    """Look whether a step is made with a loaded rate, where the optimizer was made with one that no other was made with."""
    owner = call["self"]
    notes, rates = call.about(owner), call.shared.setdefault("rates", [])
    if call.target.endswith("__init__"):
        initial = call["defaults"].get("lr")
        if isinstance(initial, float):
            usual = inspect.signature(type(owner)).parameters.get("lr")
            # a rate that is the default need not have been chosen
            meant = initial > 0 and (usual is None or initial != usual.default)
            notes.update(made=initial, new=meant and initial not in rates)
            rates.append(initial)
        return None
    if call.target.endswith("load_state_dict"):
        [*groups] = call["state_dict"]["param_groups"]
        notes.update(loaded=[group.get("lr") for group in groups], site=call.site, first=groups[0].get("initial_lr"))
        return None
    if not notes.get("new") or not notes.get("loaded") or len(rates) < 2:
        return None
    loaded, now = notes.pop("loaded"), [group["lr"] for group in owner.param_groups]
    unchanged = now == loaded and all(rate != notes["made"] for rate in now) and notes["first"] != notes["made"]
    call.site = notes["site"]
    return {"kept": float(unchanged), "made": notes["made"], "loaded": float(loaded[0])}


_PHASES = (
    "model = nn.Linear(2, 2)\nfirst = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "second = torch.optim.SGD(model.parameters(), lr={})\nsecond.load_state_dict(first.state_dict())\n{}"
    "for batch in range(3):\n    second.zero_grad()\n    model(torch.ones(1, 2)).sum().backward()\n    second.step()\n"
)
CONTRACTS = (
    Contract(
        name="rate_overwritten_by_loading",
        on=(
            "torch.optim.Optimizer.__init__",
            "torch.optim.Optimizer.load_state_dict",
            "torch.optim.Optimizer.zero_grad",
        ),
        demand="`optimizer.load_state_dict` loads the learning rate, too: the one that the optimizer was made with is gone.",
        given="The optimizer was made with lr={made:.3g}, and trains with the loaded {loaded:.3g}.",
        instead="Set it after loading: `for group in optimizer.param_groups: group['lr'] = lr`.",
        page=PAGES + "generated/torch.optim.Optimizer.load_state_dict.html",
        kind="order of calls",
        measure=_overwritten,
        broken=lambda numbers: numbers["kept"] > 0,
        breaks=_PHASES.format(0.01, ""),
        keeps=_PHASES.format(0.1, "")
        + _PHASES.format(0.001, "")
        + _PHASES.format(0.01, "for group in second.param_groups: group['lr'] = 0.01\n"),
        wrong="A script that wants the loaded rate, and writes another one only because the optimizer asks for a number.",
        explains=("by itself",),
    ),
    Contract(
        name="schedule_not_loaded",
        on=("torch.optim.Optimizer.load_state_dict", _S + "LRScheduler.load_state_dict", _S + "LRScheduler.step"),
        demand="A checkpoint holds the state of the schedule beside that of the optimizer, and both are loaded.",
        given="The loaded rate had come down from {initial:.3g} to {loaded:.3g}, and {name} begins at its first epoch.",
        instead="Save `scheduler.state_dict()`, and call `scheduler.load_state_dict` beside `optimizer.load_state_dict`.",
        page=PAGES + "generated/torch.optim.lr_scheduler.LRScheduler.html",
        kind="order of calls",
        measure=_anew,
        broken=lambda numbers: (
            numbers["epoch"] <= 1 and not numbers["by_rate"] and numbers["loaded"] < numbers["initial"]
        ),
        breaks=_FIRST.format(_COSINE) + _GO_ON,
        keeps=(
            _FIRST.format(_COSINE)
            + "schedule.load_state_dict(saved[1])\n"
            + _GO_ON
            + "\n"
            + _FIRST.format("ExponentialLR(optimizer, 0.9)")
            + _GO_ON
        ),
        wrong="A new schedule on purpose, for a second phase that begins from the first one's momentum.",
        explains=("by itself",),
        causes=("resume/scheduler_restarted",),
        after=True,
    ),
)
