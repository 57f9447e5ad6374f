"""`torch.amp` and the modes of `torch.autograd`: GradScaler's order of calls, and contexts that are not entered."""

import inspect
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.amp.grad_scaler import OptState

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_AMP = PAGES + "notes/amp_examples.html"
_SCALER = "torch.amp.GradScaler."
DEVICES = ("cpu", "cuda", "mps", "xpu")
"""Kinds of device on which autocast is looked for."""
SCALED = (
    "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
    "scaler = torch.amp.GradScaler('cpu')\n"
)
LOSS = "    scaler.scale(model(torch.ones(4, 2)).sum()).backward()\n"


def _first(parameters: Any) -> nn.Parameter | None:
    """Return the first of some parameters without using up a generator, None if that cannot be known."""
    if isinstance(parameters, torch.Tensor):
        return parameters if isinstance(parameters, nn.Parameter) else None
    if isinstance(parameters, list | tuple):
        return parameters[0] if parameters else None
    if inspect.isgenerator(parameters) and parameters.gi_frame is not None:
        module = parameters.gi_frame.f_locals.get("self")  # of `module.parameters()`
        if isinstance(module, nn.Module) and parameters.__name__ == "parameters":
            return next(module.parameters(), None)
    return None


def _stages(scaler: Any) -> Iterable[OptState]:
    return [state["stage"] for state in scaler._per_optimizer_states.values()]


def _clipped(call: Call) -> Numbers | None:
    """Look whether a scaler that steps the optimizer of these parameters has not unscaled their gradients yet."""
    scalers = call.shared.setdefault("known", {})
    if call.target.endswith(".step"):
        scaler, optimizer = call["self"], call["optimizer"]
        if scaler._enabled:
            scalers[id(optimizer)] = weakref.ref(scaler), weakref.ref(optimizer)
        return None
    first = _first(call["parameters"])
    if first is None or first.grad is None:
        return None
    for key, (some_scaler, some_optimizer) in scalers.items():
        scaler, optimizer = some_scaler(), some_optimizer()
        if scaler is None or optimizer is None or scaler._scale is None:
            continue
        if not any(parameter is first for group in optimizer.param_groups for parameter in group["params"]):
            continue
        if scaler._per_optimizer_states.get(key, {}).get("stage", OptState.READY) is OptState.READY:
            return {"scale": scaler._scale.clone(), "limit": float(call["max_norm"])}
    return None


def _scaled(call: Call) -> None:
    scaler = call["self"]
    if not scaler._enabled:
        return
    notes = call.about(scaler)
    if not call.target.endswith(".scale"):
        notes["used"] = True
        return
    notes["scaled"] = max(call.count, notes.get("scaled", 0))
    counters = [call.steps_of(one) for one in call.optimizers]
    notes.setdefault("before", sum(one.made for one in counters))
    notes["counters"] = counters


def _never_unscaled(notes: dict[str, Any]) -> Numbers | None:
    if "used" in notes or notes.get("scaled", 0) < 2:
        return None
    return {
        "steps": float(sum(counter.made for counter in notes["counters"]) - notes["before"]),
        "losses": float(notes["scaled"]),
    }


def _mixed(call: Call) -> Numbers | None:
    """Look whether a loss is scaled while the gradients of the only optimizer are unscaled already."""
    scaler = call["self"]
    if not scaler._enabled or scaler._scale is None or len(call.optimizers) != 1:
        return None
    return {"scale": scaler._scale.clone(), "unscaled": float(OptState.UNSCALED in _stages(scaler))}


def _alone(call: Call) -> Numbers:
    return {"dropped": float(call.dropped), "name": call.target.removesuffix(".__init__")}


def _spans(call: Call) -> Numbers | None:
    """Look whether an autocast region that caches weights is open since before a step. One that ended was seen ending."""
    shared = call.shared
    if call.target.endswith("__exit__"):
        shared["ended"] = True
        return None
    inside = torch.is_autocast_cache_enabled() and any(torch.is_autocast_enabled(kind) for kind in DEVICES)
    if shared.get("ended") or not inside:
        shared.pop("since", None)
        return None
    return {"steps": float(call.made - shared.setdefault("since", call.made))}


CONTRACTS = (
    Contract(
        name="autocast_over_a_step",
        on=("torch.autocast.__exit__", "torch.optim.Optimizer.zero_grad", "torch.nn.Module.zero_grad"),
        demand="`autocast` wraps a forward pass and its loss. It keeps the weights that it has cast until the region ends.",
        given="One region is open for {steps:.0f} steps, so that each forward pass gets the weights of the first one.",
        instead="Enter `torch.autocast` anew for each forward pass, or pass `cache_enabled=False`.",
        page=PAGES + "amp.html#torch.autocast",
        kind="order of calls",
        measure=_spans,
        broken=lambda numbers: numbers["steps"] >= 2,
        breaks=(
            "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "with torch.autocast('cpu', dtype=torch.bfloat16):\n    for batch in range(6):\n"
            "        optimizer.zero_grad()\n        model(torch.ones(1, 2)).sum().backward()\n        optimizer.step()"
        ),
        keeps=(
            "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "for batch in range(6):\n    with torch.autocast('cpu', dtype=torch.bfloat16):\n"
            "        optimizer.zero_grad()\n        model(torch.ones(1, 2)).sum().backward()\n        optimizer.step()\n"
            "with torch.autocast('cpu', dtype=torch.bfloat16, cache_enabled=False):\n    for batch in range(6):\n"
            "        optimizer.zero_grad()\n        model(torch.ones(1, 2)).sum().backward()\n        optimizer.step()"
        ),
        wrong="A model whose weights are fp16 or bf16 already: none of them is cast, so that none is kept.",
        explains=("by itself",),
    ),
    Contract(
        name="clip_scaled_gradients",
        on=("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", _SCALER + "step"),
        demand="`scaler.unscale_(optimizer)` comes before clipping, or the limit holds for gradients times the loss scale.",
        given="The gradients are still multiplied by {scale:.0f} when they are clipped.",
        instead="Call `scaler.unscale_(optimizer)` before `clip_grad_norm_`.",
        page=_AMP + "#gradient-clipping",
        kind="order of calls",
        measure=_clipped,
        broken=lambda numbers: numbers["scale"] > 1,
        breaks=(
            SCALED + "for _ in range(4):\n" + LOSS + "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
            "    scaler.step(optimizer)\n    scaler.update()"
        ),
        keeps=(
            SCALED + "for _ in range(4):\n" + LOSS + "    scaler.unscale_(optimizer)\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    scaler.step(optimizer)\n    scaler.update()\n"
            "other = nn.Linear(2, 2)\nother(torch.ones(1, 2)).sum().backward()\n"
            "nn.utils.clip_grad_norm_(other.parameters(), 1.0)"
        ),
        wrong="A limit that is multiplied by the loss scale on purpose.",
        explains=("loss falls little", "nothing learned"),
        causes=("precision/clip_without_unscale",),
    ),
    Contract(
        name="scaled_without_scaler_step",
        on=(_SCALER + "scale", _SCALER + "step", _SCALER + "unscale_", _SCALER + "get_scale"),
        demand="Gradients of a scaled loss are unscaled: `scaler.step(optimizer)` does it, and `optimizer.step()` does not.",
        given="{losses:.0f} losses or more were scaled, and {steps:.0f} optimizer steps made, none by `scaler.step`.",
        instead="Call `scaler.step(optimizer)` and `scaler.update()` in place of `optimizer.step()`.",
        page=_AMP + "#typical-mixed-precision-training",
        kind="order of calls",
        measure=_scaled,
        broken=lambda numbers: numbers["steps"] >= 2,
        breaks=SCALED + "for _ in range(4):\n" + LOSS + "    optimizer.step()\n    optimizer.zero_grad()",
        keeps=SCALED + "for _ in range(4):\n" + LOSS + "    scaler.step(optimizer)\n    scaler.update()",
        wrong="Gradients that the script divides by the loss scale itself.",
        explains=("by itself",),
        last=_never_unscaled,
    ),
    Contract(
        name="unscaled_while_accumulating",
        on=(_SCALER + "scale",),
        demand="`scaler.unscale_` is called after all gradients of a step are accumulated, just before `scaler.step`.",
        given="A loss is multiplied by {scale:.0f} while the gradients that it is added to are unscaled already.",
        instead="Call `scaler.unscale_(optimizer)` only before the `scaler.step(optimizer)` of the last micro-batch.",
        page=_AMP + "#gradient-accumulation",
        kind="order of calls",
        measure=_mixed,
        broken=lambda numbers: numbers["unscaled"] > 0 and numbers["scale"] > 1,
        breaks=(
            SCALED + "for step in range(8):\n" + LOSS + "    if step % 4 == 0: scaler.unscale_(optimizer)\n"
            "    if step % 4 == 3:\n        scaler.step(optimizer)\n        scaler.update()"
        ),
        keeps=(
            SCALED + "for step in range(8):\n" + LOSS + "    if step % 4 == 3:\n        scaler.unscale_(optimizer)\n"
            "        scaler.step(optimizer)\n        scaler.update()"
        ),
        wrong="A step that is given up after `unscale_`, with `zero_grad()` before the next loss.",
        explains=("loss falls little", "nothing learned"),
    ),
    Contract(
        name="context_not_entered",
        on=("torch.no_grad.__init__", "torch.inference_mode.__init__", "torch.autocast.__init__"),
        demand="`no_grad`, `inference_mode` and `autocast` act inside a `with` block, or as a decorator.",
        given="`{name}(...)` is called on a line of its own, where it changes nothing.",
        instead="Write `with torch.no_grad():` and put the lines that it is for below.",
        page=PAGES + "generated/torch.no_grad.html",
        kind="returned",
        measure=_alone,
        broken=lambda numbers: numbers["dropped"] > 0,
        breaks="torch.no_grad()\nnn.Linear(2, 2)(torch.ones(1, 2))",
        keeps=(
            "with torch.no_grad():\n    x = torch.ones(1)\nmode = torch.autocast('cpu', enabled=False)\n"
            "@torch.no_grad()\ndef work():\n    return 1\nwork()\n"
            "class Mine(torch.no_grad):\n    def __init__(self):\n        super().__init__()\nwith Mine():\n    pass"
        ),
        wrong="No case is known.",
    ),
    Contract(
        name="compiled_module_dropped",
        on=("torch.compile",),
        demand="`torch.compile` returns the compiled module or function, and leaves the one that it was given as it is.",
        given="The result of `torch.compile` of a {name} is not used.",
        instead="Write `model = torch.compile(model)`, or `model.compile()`.",
        page=PAGES + "generated/torch.compile.html",
        kind="returned",
        measure=lambda call: {"dropped": float(call.dropped), "name": type(call["model"]).__name__},
        broken=lambda numbers: numbers["dropped"] > 0,
        breaks="torch.compile(nn.Linear(2, 2), backend='eager')",
        keeps="model = torch.compile(nn.Linear(2, 2), backend='eager')",
        wrong="No case is known.",
    ),
)
