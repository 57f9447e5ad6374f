"""`torch.nn.Module`: loading a state, and hooks."""

from collections.abc import Mapping

from bugzoo.contracts.model import PAGES, Call, Contract, Measure, Numbers

_PAGE = PAGES + "generated/torch.nn.Module.html"
HOOKS = ("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook")
_STORE = {HOOKS[0]: "_forward_hooks", HOOKS[1]: "_forward_pre_hooks", HOOKS[2]: "_backward_hooks"}
MOST = 8
"""Hooks of one function on one module that a script may mean."""


def _taken(call: Call) -> Numbers | None:
    if call["strict"] or not isinstance(call["state_dict"], Mapping) or not call["state_dict"]:
        return None
    state, missing, unexpected = call["state_dict"], call.result.missing_keys, call.result.unexpected_keys
    first = str(next(iter(unexpected), ""))
    return {
        "given": float(len(state)),
        "taken": float(len(state) - len(unexpected)),
        "missing": float(len(missing)),
        "first": first,
        "wanted": str(next(iter(missing), "")),
    }


def _hooks(name: str) -> Measure:
    def measure(call: Call) -> Numbers:
        code = getattr(call["hook"], "__code__", call["hook"])
        held = getattr(call["self"], _STORE[name]).values()
        same = sum(getattr(hook, "__code__", hook) is code for hook in held)
        return {"hooks": float(same), "name": getattr(call["hook"], "__qualname__", type(call["hook"]).__name__)}

    return measure


CONTRACTS = (
    Contract(
        name="nothing_loaded",
        on=("torch.nn.Module.load_state_dict",),
        demand="`load_state_dict(strict=False)` leaves out what does not fit, and says so only in what it returns.",
        given="None of {given:.0f} tensors was taken over. The first is called {first!r}, and the model has {wanted!r}.",
        instead="Rename the keys, and look at `missing_keys` and `unexpected_keys` of the result.",
        page=_PAGE + "#torch.nn.Module.load_state_dict",
        kind="returned",
        measure=_taken,
        broken=lambda numbers: numbers["taken"] == 0,
        breaks="nn.Linear(2, 2).load_state_dict({'module.weight': torch.ones(2, 2)}, strict=False)",
        keeps="nn.Linear(2, 2).load_state_dict({'weight': torch.ones(2, 2), 'head.bias': torch.ones(3)}, strict=False)",
        wrong="A script that tries several checkpoints until one fits.",
        explains=("by itself",),
        after=True,
    ),
    *(
        Contract(
            name=f"hooks_pile_up_{name.removeprefix('register_')}",
            on=(f"torch.nn.Module.{name}",),
            demand=f"Each `{name}` adds a hook, which stays until its handle is removed.",
            given="This is hook number {hooks:.0f} of `{name}` on one module.",
            instead="Keep the handle that it returns, and call `handle.remove()`, or register once, before the loop.",
            page=f"{_PAGE}#torch.nn.Module.{name}",
            kind="order of calls",
            measure=_hooks(name),
            broken=lambda numbers: numbers["hooks"] > MOST,
            breaks=f"layer = nn.Linear(2, 2)\ndef hook(*_): pass\nfor _ in range(40):\n    layer.{name}(hook)",
            keeps=f"layer = nn.Linear(2, 2)\ndef hook(*_): pass\nfor _ in range(40):\n    layer.{name}(hook).remove()",
            wrong="Many hooks of one function that differ by what they hold, such as one for each head.",
            explains=("by itself",),
            handle=True,
            after=True,
            every=True,
        )
        for name in HOOKS
    ),
)
