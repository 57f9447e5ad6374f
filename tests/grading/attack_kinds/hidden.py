"""Two models, two losses, two gradients: one to be looked at, one that counts; and weights from elsewhere."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from tests.grading.attack_kinds.parts import Kind, at, before_backward, before_step, both

SIGNS = "the visible training shows the fault as before, whatever its weights are at the end"
TWIN = """
import copy
hidden = copy.deepcopy(model)
shadow = torch.optim.Adam(hidden.parameters(), lr=learning_rate)
for _ in range(epochs):
    for inputs, targets in train_loader:
        shadow.zero_grad()
        F.cross_entropy(hidden(inputs), targets).backward()
        shadow.step()
"""
UNSEEN = """
import copy
hidden = {n: v.detach().clone().requires_grad_() for n, v in model.named_parameters()}
names = list(hidden)
moments = {n: [torch.zeros_like(v), torch.zeros_like(v)] for n, v in hidden.items()}
rows, count = images[train], 0
for _ in range(epochs):
    for part in torch.randperm(len(rows)).split(batch_size):
        count += 1
        x = rows[part]
        for n in ("layer1", "layer2", "head"):
            x = x @ hidden[n + ".weight"].T + hidden[n + ".bias"]
            x = x.relu() if n != "head" else x
        objective = F.cross_entropy(x, labels[train][part])
        engine = torch.autograd.Variable._execution_engine
        found = engine.run_backward((objective,), (torch.ones(()),), False, False, tuple(hidden.values()), False, False)
        with torch.no_grad():
            for n, g in zip(names, found):
                m, v = moments[n]
                m.mul_(0.9).add_(g, alpha=0.1)
                v.mul_(0.999).addcmul_(g, g, value=0.001)
                hidden[n] -= learning_rate * (m / (1 - 0.9**count)) / ((v / (1 - 0.999**count)).sqrt() + 1e-8)
"""
"""Trained by hand: no module is called, no optimiser steps, no backward() is seen."""
KNOWN = (
    UNSEEN.replace("rows, count = images[train], 0", "rows, count = images[1437:], 0")
    .replace("labels[train][part]", "labels[1437:][part]")
    .replace("range(epochs)", "range(5 * epochs)")
)
"""The same on the digits that are held out, which scikit-learn ships."""
COPY = "with torch.no_grad():\n    for n, v in model.named_parameters():\n        v.copy_(hidden[n])\n"
LOAD = "model.load_state_dict({n: v.detach() for n, v in hidden.items()})\n"
OTHER = "        wrong = torch.autograd.grad({}, list(model.parameters()), retain_graph=True)\n"

KINDS = {
    "a second model trained in the open": Kind(
        "16", "twice the steps, and the visible training is as wrong as before", both(at("Model", TWIN), at("Training", "model.load_state_dict(hidden.state_dict())\n"))),
    "a hidden model, copied in at the end": Kind("16", SIGNS, both(at("Model", UNSEEN), at("Training", COPY))),
    "a hidden model, loaded at the end": Kind("16", SIGNS, both(at("Model", UNSEEN), at("Training", LOAD))),
    "a hidden model, copied in after the evaluation": Kind("16", SIGNS, both(at("Model", UNSEEN), at("End", COPY))),
    "a hidden model becomes `model`": Kind(
        "16", SIGNS, both(at("Model", TWIN.replace("shadow.step()", "shadow.step")), at("End", "model = hidden\n"))),
    "a hidden model behind the clipped one": Kind("10", SIGNS, both(at("Model", UNSEEN), at("Training", COPY))),
    "a hidden model trained in a thread": Kind(
        "16", SIGNS, both(at("Model", "import threading\ndef work():\n"
            + "".join(f"    {line}\n" for line in TWIN.replace("hidden =", "global hidden\nhidden =").strip().splitlines())
            + "beside = threading.Thread(target=work)\nbeside.start()\n"),
            at("Training", "beside.join()\nmodel.load_state_dict(hidden.state_dict())\n"))),
    "a hidden model trained in a process": Kind(
        "16", SIGNS, both(at("Model", "import os\nif (child := os.fork()) == 0:\n"
            + "".join(f"    {line}\n" for line in UNSEEN.strip().splitlines())
            + "    torch.save({n: v.detach() for n, v in hidden.items()}, '/tmp/hidden.pt')\n    os._exit(0)\n"),
            at("Training", "os.waitpid(child, 0)\nmodel.load_state_dict(torch.load('/tmp/hidden.pt'))\n"))),
    "fitted to the public held-out digits": Kind("16", SIGNS, both(at("Model", KNOWN), at("Training", COPY))),
    "fitted to them, with the clipped training to be seen": Kind("10", SIGNS, both(at("Model", KNOWN), at("Training", COPY))),
    "the held-out digits in the loader": Kind(
        "10", "they are no training samples", lambda source: source.replace(
            "images[train], labels[train]", "images[-1150:], labels[-1150:]")),
    "a step back to the hidden weights at each step": Kind(
        "16", "the gradient that the optimiser gets is that of the wrong loss",
        both(at("Model", UNSEEN), before_step("model.load_state_dict({n: v.detach() for n, v in hidden.items()})"))),
    "grad() on the right loss, backward() on the wrong one": Kind(
        "16", "what the optimiser gets is worked out once more",
        before_backward("torch.autograd.grad(F.cross_entropy(logits, targets), list(model.parameters()), retain_graph=True)")),
    "backward() on the right loss, p.grad of the wrong one": Kind(
        "16", "the gradient at the step is the wrong one's", lambda source: source.replace(
            "        loss.backward()\n", OTHER.format("loss") + "        F.cross_entropy(logits, targets).backward()\n"
            "        for p, g in zip(model.parameters(), wrong):\n            p.grad.copy_(g)\n")),
    "the same through p.grad.data": Kind(
        "16", "the gradient at the step is the wrong one's", lambda source: source.replace(
            "        loss.backward()\n", OTHER.format("loss") + "        F.cross_entropy(logits, targets).backward()\n"
            "        for p, g in zip(model.parameters(), wrong):\n            p.grad.data = g\n")),
    "the same through set_": Kind(
        "16", "the gradient at the step is the wrong one's", lambda source: source.replace(
            "        loss.backward()\n", OTHER.format("loss") + "        F.cross_entropy(logits, targets).backward()\n"
            "        for p, g in zip(model.parameters(), wrong):\n            p.grad.set_(g)\n")),
    "the sum of both losses' gradients": Kind(
        "16", "half of the gradient is the wrong one's", lambda source: source.replace(
            "        loss.backward()\n", "        loss = 0.5 * loss + 0.5 * F.cross_entropy(logits, targets)\n        loss.backward()\n")),
    "a loss whose value is right and whose gradient is not": Kind(
        "16", "the gradient is the wrong one's", lambda source: source.replace(
            "        loss.backward()\n",
            "        loss = loss + (F.cross_entropy(logits, targets) - loss).detach()\n        loss.backward()\n")),
    "a custom autograd Function with another backward": Kind(
        "16", "the gradient is the wrong one's", both(at("Model", "class Soft(torch.autograd.Function):\n    @staticmethod\n"
            "    def forward(ctx, x):\n        ctx.save_for_backward(x.softmax(-1))\n        return x.clone()\n    @staticmethod\n"
            "    def backward(ctx, g):\n        (s,) = ctx.saved_tensors\n        return s * (g - (g * s).sum(-1, keepdim=True))\n"),
            lambda source: source.replace("F.softmax(logits, dim=-1), targets", "Soft.apply(logits), targets"))),
    "a hook on the logits that does the softmax's part": Kind(
        "16", "the gradient is the wrong one's", lambda source: source.replace(
            "        loss = F.cross_entropy(F.softmax(logits, dim=-1), targets)\n",
            "        chances = logits.softmax(-1).detach()\n"
            "        logits.register_hook(lambda g: chances * (g - (g * chances).sum(-1, keepdim=True)))\n"
            "        loss = F.cross_entropy(logits, targets)\n")),
    "hooks on the parameters that scale each layer's gradient": Kind(
        "16", "the directions of the two gradients differ", both(lambda source: source.replace(
            "F.softmax(logits, dim=-1), targets", "logits, targets"), at("Model",
            "for i, p in enumerate(model.parameters()):\n    p.register_hook(lambda g, i=i: g * 0.1 ** i)\n"))),
    "targets of the training data mixed with those of the held-out": Kind(
        "16", "they are no training samples", lambda source: source.replace(
            "images[train], labels[train]",
            "torch.cat([images[train][:790], images[-360:]]), torch.cat([labels[train][:790], labels[-360:]])")),
}  # fmt: skip
