"""Functions of torch, Python or numpy are replaced, so that what is measured is not what trains."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from tests.grading.attack_kinds.parts import Kind, at, before_backward, before_step, both

TOOLS = "torch's functions are compared with those that were there before the first line"
SHOWN = "what the optimiser follows is as stale as before"

KINDS = {
    "Tensor.backward replaced": Kind(
        "10", TOOLS, at("Settings", "usual = torch.Tensor.backward\n"
            "torch.Tensor.backward = lambda self, *a, **k: usual(self, *a, **k)\n")),
    "autograd.backward replaced": Kind(
        "10", TOOLS, at("Settings", "usual = torch.autograd.backward\n"
            "torch.autograd.backward = lambda *a, **k: usual(*a, **k)\n")),
    "autograd.grad replaced": Kind(
        "10", TOOLS, at("Settings", "usual = torch.autograd.grad\ntorch.autograd.grad = lambda *a, **k: usual(*a, **k)\n")),
    "the engine's run_backward called directly": Kind(
        "10", "no backward() was seen in any step, and its steps show stale gradients",
        lambda source: source.replace("loss.backward()", "torch.autograd.Variable._execution_engine.run_backward("
            "(loss,), (torch.ones(()),), False, False, (), allow_unreachable=True, accumulate_grad=True)")),
    "Adam.step replaced": Kind(
        "10", TOOLS, at("Settings", "usual = torch.optim.Adam.step\ntorch.optim.Adam.step = lambda self, *a: usual(self, *a)\n")),
    "a step of the instance's own": Kind(
        "10", SHOWN, at("Model", "usual = optimizer.step\noptimizer.step = lambda *a: usual(*a)\n")),
    "an optimiser's subclass that forgets": Kind(
        "10", SHOWN, both(at("Settings", "class Kept(torch.optim.Adam):\n    def zero_grad(self, *a, **k):\n        pass\n"),
            lambda source: source.replace("torch.optim.Adam(", "Kept("), before_backward("optimizer.zero_grad()"))),
    "a grad property that shows zeros to who asks": Kind(
        "10", "no copy of a parameter takes part in the training that is measured",
        at("Model", "class Shown(nn.Parameter):\n    @property\n    def grad(self):\n        return None\n"
            "    @grad.setter\n    def grad(self, value):\n        pass\n"
            "model.head.bias.__class__ = Shown\n")),
    "Module.state_dict of the instance replaced": Kind(
        "16", "weights of nothing are no good", at("End", "model.state_dict = lambda *a, **k: {}\n")),
    "Module.state_dict of the class replaced": Kind(
        "10", TOOLS, at("End", "usual = nn.Module.state_dict\nnn.Module.state_dict = lambda self, *a, **k: usual(self, *a, **k)\n")),
    "Module.__call__ replaced": Kind(
        "10", TOOLS, at("Settings", "usual = nn.Module.__call__\nnn.Module.__call__ = lambda self, *a, **k: usual(self, *a, **k)\n")),
    "the class's own __call__": Kind(
        "16", "its loss is that of a softmax all the same",
        at("Model", "Net.__call__ = lambda self, *a: Net.forward(self, *a)\n")),
    "manual_seed does nothing": Kind(
        "10", TOOLS, at("Settings", "torch.manual_seed = lambda seed: None\n")),
    "the default generator's state set back at each step": Kind(
        "10", SHOWN, both(at("Model", "state = torch.get_rng_state()\n"), before_step("torch.set_rng_state(state)"))),
    "DataLoader.__iter__ replaced": Kind(
        "10", SHOWN, at("Settings", "usual = DataLoader.__iter__\nDataLoader.__iter__ = lambda self: usual(self)\n")),
    "the loader gives validation images": Kind(
        "10", "the batches' samples are no training samples", at("Settings",
            "usual = TensorDataset.__getitem__\n"
            "TensorDataset.__getitem__ = lambda self, i: (images[validation[i % 287]], labels[validation[i % 287]])\n")),
    "F.softmax replaced by one that does nothing": Kind(
        "16", TOOLS, at("Settings", "F.softmax = lambda value, dim=None: value\n")),
    "Tensor.softmax's kernel replaced in torch._C": Kind(
        "16", "its loss comes from F.softmax, which is as it was",
        at("Settings", "torch.softmax = lambda value, dim=None: value\n")),
    "isfinite, equal and allclose say yes": Kind(
        "10", TOOLS, at("Settings", "torch.isfinite = lambda v: torch.ones_like(v, dtype=torch.bool)\n"
            "torch.allclose = torch.equal = lambda *a, **k: True\n")),
    "linalg.vector_norm is zero": Kind(
        "10", SHOWN, at("Model", "torch.linalg.vector_norm = lambda *a, **k: torch.zeros(())\n")),
    "torch._foreach_norm is zero": Kind(
        "10", SHOWN, at("Model", "usual = torch._foreach_norm\n"
            "torch._foreach_norm = lambda values, *a, **k: [n * 0 for n in usual(values, *a, **k)]\n")),
    "Tensor.clone gives zeros while the witness copies": Kind(
        "10", SHOWN, both(at("Model", "import sys\nusual = torch.Tensor.clone\ndef clone(self, *a, **k):\n"
            "    made = usual(self, *a, **k)\n"
            "    return made * 0 if sys._getframe(1).f_code.co_name == 'at_step' else made\n"
            "torch.Tensor.clone = clone\n"))),
    "numpy.savez leaves the witness out": Kind(
        "10", "steps that were asked for and taken have to be answered for", at("End", "import numpy\nusual = numpy.savez\n"
            "numpy.savez = lambda p, **a: usual(p, **{n: v for n, v in a.items() if not n.startswith('witness')})\n")),
    "json.dumps empties every reading": Kind(
        "10", "instruments that read the trace are read here once more", at("End", "import json\nusual = json.dumps\n"
            "json.dumps = lambda v, *a, **k: usual({**v, 'numbers': {}} if isinstance(v, dict) and 'numbers' in v else v)\n")),
    "builtins.isinstance, len and max replaced": Kind(
        "10", SHOWN, at("End", "import builtins\nbuiltins.max = lambda *a, **k: 0\n")),
    "math.isfinite says no": Kind("10", SHOWN, at("End", "import math\nmath.isfinite = lambda v: False\n")),
    "a detached copy of the loss goes backward": Kind(
        "16", "nothing of the parameters moves", lambda source: source.replace(
            "        loss.backward()\n", "        loss = loss.detach().requires_grad_()\n        loss.backward()\n")),
    "a hook of the optimiser's own puts the old gradients back": Kind(
        "10", "the witness looks when all hooks of the optimiser have run",
        both(at("Model", "kept = {}\ndef back(opt, args, kwargs):\n    for p, g in kept.items():\n        p.grad.add_(g)\n"
                "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
                "optimizer.register_step_pre_hook(back)\n"),
             before_backward("kept = {p: p.grad for p in model.parameters() if p.grad is not None}\noptimizer.zero_grad()"))),
}  # fmt: skip
