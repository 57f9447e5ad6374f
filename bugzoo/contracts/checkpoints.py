"""States that are saved and loaded, optimizers that hold what was there before, and handles of distributed calls."""

import inspect
import weakref
from collections.abc import Mapping
from typing import Any

import torch

from bugzoo.contracts.model import PAGES, Aside, Call, Contract, Numbers

_LOAD = "torch.nn.Module.load_state_dict"
_PAGE = PAGES + "generated/torch.nn.Module.html#torch.nn.Module."
TRAINED = "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
GROUP = (
    "import torch.distributed as dist\ndist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
)
_ASYNC = ("all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter_tensor")


def _itself(call: Call) -> Numbers | None:
    """Look whether the tensors to load are the module's own, and were taken from it before an optimizer step."""
    if call.target.endswith(".state_dict"):
        try:
            call.about(call.result).update(made=call.made, site=call.site)
        except Aside:
            pass
        return None
    state = call["state_dict"]
    if call["assign"] or not isinstance(state, Mapping):
        return None
    taken: dict[str, Any] = {}
    try:
        taken = call.about(state)
    except Aside:  # a dict that the script made of it
        pass
    if taken.get("made") == call.made:
        return None
    call.site = taken.get("site", call.site)  # the line that took the state without a copy
    weights = dict(call["self"].named_parameters())
    some = [(weights[key], value) for key, value in state.items() if key in weights and isinstance(value, torch.Tensor)]
    if not some or any(tensor.is_meta or not tensor.numel() for pair in some for tensor in pair) or not call.made:
        return None
    return {"tensors": float(len(some)), "same": float(sum(a.data_ptr() == b.data_ptr() for a, b in some))}


def _assigned(call: Call) -> None:
    """Note optimizers, and parameters of theirs that `assign=True` takes out of the module."""
    optimizers = call.shared.setdefault("optimizers", [])
    if call.target.endswith("__init__"):
        optimizers.append(weakref.ref(call["self"]))
        return
    if not call["assign"]:
        return
    parameters = {id(one) for one in call["self"].parameters()}
    for optimizer in filter(None, (one() for one in optimizers)):
        held = sum(id(one) in parameters for group in optimizer.param_groups for one in group["params"])
        if held:
            steps = call.steps_of(optimizer)
            call.about(optimizer).update(held=float(held), steps=steps, made=steps.made)


def _steps_after(notes: dict[str, Any]) -> Numbers:
    return {"held": notes["held"], "steps": float(notes["steps"].made - notes["made"])}


def _ended(call: Call) -> Numbers | None:
    """Count the groups whose generator of parameters has ended already."""
    groups = call["params"] if call.target.endswith("__init__") else [call["param_group"]]
    if not isinstance(groups, list | tuple):
        return None
    some = [group["params"] for group in groups if isinstance(group, dict)]
    ended = [
        inspect.isgenerator(weights) and inspect.getgeneratorstate(weights) == inspect.GEN_CLOSED for weights in some
    ]
    return {"groups": float(len(some)), "ended": float(sum(ended))}


def _handle(call: Call) -> Numbers | None:
    if not call["async_op"]:
        return None
    return {"dropped": float(call.dropped), "name": call.target.rpartition(".")[2]}


CONTRACTS = (
    Contract(
        name="state_dict_is_no_copy",
        on=("torch.nn.Module.state_dict", _LOAD),
        demand="`state_dict()` returns the module's own tensors, which go on changing with each step.",
        given="{same:.0f} of the {tensors:.0f} tensors to load are the module's own, so loading them restores nothing.",
        instead="Keep a copy: `best = copy.deepcopy(model.state_dict())`.",
        page=_PAGE + "state_dict",
        kind="shared object",
        measure=_itself,
        broken=lambda numbers: numbers["same"] == numbers["tensors"],
        breaks=TRAINED
        + "best = {k: v.cpu() for k, v in model.state_dict().items()}\noptimizer.step()\nmodel.load_state_dict(best)",
        keeps=(
            TRAINED
            + "import copy\nbest = copy.deepcopy(model.state_dict())\noptimizer.step()\nmodel.load_state_dict(best)\n"
            "now = model.state_dict()\nmodel.load_state_dict(now)\nnn.Linear(2, 2).load_state_dict(now)"
        ),
        wrong="A dict whose tensors the script changes in place and then loads, although that is no longer needed.",
        explains=("by itself",),
        causes=("resume/last_instead_of_best",),
        after=True,
    ),
    Contract(
        name="assigned_after_optimizer",
        on=("torch.optim.Optimizer.__init__", _LOAD),
        demand="With `assign=True` the module gets other parameters: the optimizer is made after `load_state_dict`.",
        given="An optimizer holds {held:.0f} parameters that the module no longer has, and made {steps:.0f} steps with them.",
        instead="Call `load_state_dict(..., assign=True)` first, and make the optimizer then.",
        page=_PAGE + "load_state_dict",
        kind="order of calls",
        measure=_assigned,
        broken=lambda numbers: numbers["steps"] > 0,
        breaks=TRAINED + "model.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)\noptimizer.step()",
        keeps=(
            TRAINED + "model.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\noptimizer.step()"
        ),
        wrong="An optimizer that gets the new parameters by `add_param_group`.",
        explains=("by itself",),
        causes=("freezing/optimizer_on_old_model",),
        last=_steps_after,
    ),
    Contract(
        name="param_group_used_up",
        on=("torch.optim.Optimizer.__init__", "torch.optim.Optimizer.add_param_group"),
        demand="`module.parameters()` is a generator, which gives its parameters once.",
        given="{ended:.0f} of {groups:.0f} groups get a generator that has ended: the optimizer holds nothing of it.",
        instead="Call `module.parameters()` again, or keep `list(module.parameters())`.",
        page=PAGES + "optim.html#per-parameter-options",
        kind="used twice",
        measure=_ended,
        broken=lambda numbers: numbers["ended"] > 0,
        breaks=(
            "body, head = nn.Linear(2, 2), nn.Linear(2, 2)\nsome = body.parameters()\nprint(sum(p.numel() for p in some))\n"
            "torch.optim.SGD([{'params': some}, {'params': head.parameters()}], lr=0.1)"
        ),
        keeps=(
            "body, head = nn.Linear(2, 2), nn.Linear(2, 2)\n"
            "torch.optim.SGD([{'params': body.parameters()}, {'params': [], 'lr': 1.0}, {'params': head.bias}], lr=0.1)"
        ),
        wrong="No case is known.",
        explains=("by itself",),
        causes=("optimizer/some_parameters_left_out",),
    ),
    Contract(
        name="distributed_handle_dropped",
        on=tuple(f"torch.distributed.{name}" for name in _ASYNC),
        demand="With `async_op=True` a collective returns a handle, and its tensor is ready only after `handle.wait()`.",
        given="The handle of `{name}` is not kept, so that the script cannot wait for it.",
        instead="Write `handle = dist.all_reduce(..., async_op=True)` and call `handle.wait()`, or leave `async_op` out.",
        page=PAGES + "distributed.html#synchronous-and-asynchronous-collective-operations",
        kind="returned",
        measure=_handle,
        broken=lambda numbers: numbers["dropped"] > 0,
        breaks=GROUP + "dist.all_reduce(torch.ones(2), async_op=True)\ndist.destroy_process_group()",
        keeps=GROUP + "dist.all_reduce(torch.ones(2), async_op=True).wait()\ndist.destroy_process_group()",
        wrong="A barrier of another kind before the tensor is read.",
    ),
)
