"""States and parameters of a module: references, replaced parameters, frozen ones, and clipping what has no gradient."""

import weakref
from collections.abc import Iterator, Mapping

import torch

from bugzoo.contracts.model import PAGES, Aside, Call, Contract, Numbers

_PAGE = PAGES + "generated/torch.nn.Module.html"
_CLIP = PAGES + "generated/torch.nn.utils.clip_grad_norm_.html"
TWICE = 2
_TRAINED = "import copy, io\nmodel = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
_STEP = "model(torch.ones(1, 2)).sum().backward()\noptimizer.step()\n"


def _reference(call: Call) -> Numbers | None:
    """Keep when each state was taken, and see whether a later optimizer step has changed one that is saved."""
    if call.target.endswith(".state_dict"):
        state = call.result
        if isinstance(state, Mapping) and call["destination"] is None:
            call.shared[id(state)] = (weakref.ref(state), call.step, _versions(state))
        return None
    saved = call["obj"]
    for mapping in (saved, *(saved.values() if isinstance(saved, Mapping) else ())):
        taken, step, versions = call.shared.get(id(mapping), (lambda: None, 0, {}))
        if taken() is mapping and mapping:
            changed = sum(now > versions.get(name, now) for name, now in _versions(mapping).items())
            return {"taken": step - 1.0, "used": call.step - 1.0, "changed": float(changed), "all": float(len(mapping))}
    return None


def _versions(state: Mapping[str, object]) -> dict[str, int]:
    """How often each tensor has been written in place: counted by the parameter that it refers to, too."""
    return {name: value._version for name, value in state.items() if isinstance(value, torch.Tensor)}


def _replaced(call: Call) -> Numbers | None:
    """Whether an optimizer holds the parameter that two new ones are about to replace."""
    if call.target.endswith("Optimizer.__init__"):
        call.shared[id(call["self"])] = weakref.ref(call["self"])
        return None
    weight = getattr(call["module"], call["name"], None)
    optimizers = [one for one in (reference() for reference in call.shared.values()) if one is not None]
    held = sum(one is weight for each in optimizers for group in each.param_groups for one in group["params"])
    return {"held": float(held), "layer": type(call["module"]).__name__, "name": call["name"]}


def _buffer(call: Call) -> Numbers | None:
    tensor = call["tensor"]
    if not isinstance(tensor, torch.Tensor):
        return None
    trained = isinstance(tensor, torch.nn.Parameter) and tensor.requires_grad
    return {"name": str(call["name"]), "numbers": float(tensor.numel()), "trained": float(trained)}


def _frozen_by_name(call: Call) -> Numbers | None:
    """A module with an attribute `requires_grad` that is False, and parameters that are trained all the same."""
    for name, module in call["self"].named_modules():
        if vars(module).get("requires_grad") is False:
            trained = sum(parameter.requires_grad for parameter in module.parameters())
            return {"name": name or type(module).__name__, "trained": float(trained), "mode": str(call["mode"])}
    return None


_PARAMETERS = torch.nn.Module.parameters.__code__
"""Read here, as a listener stands in its place later."""


def _without_gradient(call: Call) -> Numbers | None:
    """Parameters without any gradient, as long as this place has never had one with a gradient."""
    parameters = call["parameters"]
    if isinstance(parameters, torch.Tensor):
        some = [parameters]
    elif isinstance(parameters, list | tuple):
        some = [parameter for parameter in parameters if isinstance(parameter, torch.Tensor)]
    elif getattr(parameters, "gi_code", None) is _PARAMETERS and parameters.gi_frame is not None:
        module = parameters.gi_frame.f_locals["self"]  # the generator itself may be read only once
        some = list(module.parameters())
    else:
        raise Aside("the parameters may be read only once")
    some = [parameter for parameter in some if parameter.requires_grad]
    if not some:
        return None
    if any(parameter.grad is not None for parameter in some):
        call.kept["some"] = True
    else:
        call.kept["calls"] = call.kept.get("calls", 0) + 1
    calls = 0 if "some" in call.kept else call.kept.get("calls", 0)
    return {"calls": float(calls), "parameters": float(len(some))}


def _read_again(call: Call) -> Numbers | None:
    """Look whether the call before got the very iterator that this one gets."""
    iterator, before = call["parameters"], call.kept.get("before")
    if not isinstance(iterator, Iterator):
        return None
    call.kept["before"] = iterator
    return {"again": float(iterator is before), "name": type(iterator).__name__}


CONTRACTS = (
    Contract(
        name="saved_state_has_changed",
        on=("torch.nn.Module.state_dict", "torch.save"),
        demand="`state_dict()` returns references to the parameters, which the optimizer goes on changing. It is no copy.",
        given=(
            "The state was taken after {taken:.0f} steps and saved after {used:.0f}, "
            "and {changed:.0f} of its {all:.0f} tensors have changed since."
        ),
        instead="Keep `copy.deepcopy(model.state_dict())`, or save it to a file at once.",
        page=_PAGE + "#torch.nn.Module.state_dict",
        kind="shared object",
        measure=_reference,
        broken=lambda numbers: numbers["used"] > numbers["taken"] and numbers["changed"] > 0,
        breaks=_TRAINED + "best = model.state_dict()\n" + _STEP + "torch.save({'model': best}, io.BytesIO())",
        keeps=(
            _TRAINED
            + "best, other = copy.deepcopy(model.state_dict()), nn.Linear(2, 2).state_dict()\n"
            + _STEP
            + "torch.save({'model': model.state_dict(), 'best': best, 'other': other}, io.BytesIO())\n"
            + "torch.save(best, io.BytesIO())"
        ),
        wrong="The state is meant to follow the model.",
        explains=("by itself",),
        after=True,
    ),
    Contract(
        name="weight_norm_after_the_optimizer",
        on=(
            "torch.optim.Optimizer.__init__",
            "torch.nn.utils.parametrizations.weight_norm",
            "torch.nn.utils.weight_norm",
        ),
        demand="`weight_norm` replaces the weight by two new parameters. The optimizer has to be made after it.",
        given="{held:.0f} optimizer holds the `{name}` of the {layer}, which is no parameter any more.",
        instead="Apply `weight_norm` first, or call `optimizer.add_param_group` with the new parameters.",
        page=PAGES + "generated/torch.nn.utils.parametrize.register_parametrization.html",
        kind="order of calls",
        measure=_replaced,
        broken=lambda numbers: numbers["held"] > 0,
        breaks=_TRAINED + "nn.utils.parametrizations.weight_norm(model)",
        keeps=_TRAINED
        + "other = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))\n"
        + "torch.optim.SGD([*model.parameters(), *other.parameters()])",
        wrong="The optimizer is made anew afterwards, or gets the new parameters.",
        explains=("by itself",),
    ),
    Contract(
        name="buffer_of_a_parameter",
        on=("torch.nn.Module.register_buffer",),
        demand="A buffer is no parameter: `module.parameters()` leaves it out, and no optimizer trains it.",
        given="The buffer {name!r} is an `nn.Parameter` of {numbers:.0f} numbers that requires a gradient.",
        instead="Write `self.name = nn.Parameter(...)`, or register a tensor that needs no gradient.",
        page=_PAGE + "#torch.nn.Module.register_buffer",
        kind="convention",
        measure=_buffer,
        broken=lambda numbers: numbers["trained"] > 0,
        breaks="nn.Module().register_buffer('scale', nn.Parameter(torch.ones(3)))",
        keeps=(
            "module = nn.Linear(2, 2)\n"
            "module.register_buffer('scale', torch.ones(3)), module.register_buffer('empty', None)\n"
            "module.register_buffer('start', module.weight.detach().clone())\n"
            "module.register_buffer('fixed', nn.Parameter(torch.ones(3), requires_grad=False))"
        ),
        wrong="The script hands the buffer to the optimizer itself.",
        explains=("by itself",),
    ),
    Contract(
        name="module_requires_grad",
        on=("torch.nn.Module.train",),
        demand="A module has no `requires_grad`: parameters are frozen one by one, or by the method `requires_grad_`.",
        given="`{name}.requires_grad` is False, and {trained:.0f} of its parameters are trained all the same.",
        instead="Call `module.requires_grad_(False)`.",
        page=_PAGE + "#torch.nn.Module.requires_grad_",
        kind="convention",
        measure=_frozen_by_name,
        broken=lambda numbers: numbers["trained"] > 0,
        breaks="net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nnet[0].requires_grad = False\nnet.train()",
        keeps=(
            "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\n"
            "net[0].requires_grad_(False).requires_grad = False\n"
            "net.train()\n"
            "net[1].eval()"
        ),
        wrong="An attribute of the script's own module, of another meaning.",
        explains=("by itself",),
    ),
    Contract(
        name="clip_without_gradient",
        on=("torch.nn.utils.clip_grad_norm_",),
        demand="Gradients are clipped after `backward()` and before `step()`: without a gradient, nothing is clipped.",
        given="None of {parameters:.0f} parameters has a gradient, in {calls:.0f} calls out of as many.",
        instead="Clip between `loss.backward()` and `optimizer.step()`, the parameters of the model that is trained.",
        page=_CLIP,
        kind="order of calls",
        measure=_without_gradient,
        broken=lambda numbers: numbers["calls"] >= TWICE,
        breaks=(
            "model = nn.Linear(2, 1)\n"
            "for _ in range(3):\n"
            "    model.zero_grad()\n"
            "    loss = model(torch.ones(1, 2)).sum()\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
            "    loss.backward()"
        ),
        keeps=(
            "model, frozen = nn.Linear(2, 1), nn.Linear(2, 1).requires_grad_(False)\n"
            "for step in range(3):\n"
            "    model.zero_grad()\n"
            "    if step:\n"
            "        model(torch.ones(1, 2)).sum().backward()\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
            "    nn.utils.clip_grad_norm_(list(frozen.parameters()), 1.0)"
        ),
        wrong="A model whose loss is left out in each of the calls.",
        explains=("by itself",),
        causes=("clipping/clipped_before_backward", "loop/gradients_wiped"),
    ),
    Contract(
        name="clip_iterator_used_up",
        on=("torch.nn.utils.clip_grad_norm_",),
        demand="An iterator of parameters can be read once: from the second call on nothing is clipped.",
        given="One and the same `{name}` is passed again, of which nothing is left.",
        instead="Make it a list: `parameters = [p for p in model.parameters() if p.requires_grad]`.",
        page="https://docs.python.org/3/glossary.html#term-iterator",
        kind="used twice",
        measure=_read_again,
        broken=lambda numbers: numbers["again"] > 0,
        breaks=(
            "model = nn.Linear(2, 1)\ntrained = filter(lambda one: one.requires_grad, model.parameters())\n"
            "for _ in range(3):\n    model(torch.ones(1, 2)).sum().backward()\n"
            "    nn.utils.clip_grad_norm_(trained, 1.0)"
        ),
        keeps=(
            "model = nn.Linear(2, 1)\ntrained = [*filter(lambda one: one.requires_grad, model.parameters())]\n"
            "for _ in range(3):\n    model(torch.ones(1, 2)).sum().backward()\n"
            "    nn.utils.clip_grad_norm_(trained, 1.0)\n    nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
        ),
        wrong="No case is known.",
        explains=("by itself",),
    ),
)
