"""Texts of the small perceptron: a fault that waits in one way or another, and honest ways to write the right program."""

# ruff: noqa: E501  a line is a text

from bugzoo.scenario import Scenario

CASE = Scenario("mlp", ("loss/double_softmax",))
HEALTHY = CASE.healthy().source
LOSS, STEP, BEGIN = "loss = F.cross_entropy(logits, targets)", "optimizer.step()", "step = 0\n"
HEAD, FIELD = "return self.head(hidden)", "self.head = nn.Linear(hidden_size, 10)"
FAULT = "logits = logits.softmax(-1)"


def edited(*edits: tuple[str, str]) -> str:
    """Return the healthy program with texts replaced, each of which stands there once; lines keep their depth."""
    text = HEALTHY
    for old, new in edits:
        assert text.count(old) == 1, old
        line = next(candidate for candidate in text.splitlines() if old.strip().splitlines()[0] in candidate)
        depth = line[: len(line) - len(line.lstrip())] if not old.endswith("\n") else ""
        text = text.replace(old, new.replace("\n", f"\n{depth}"))
    return text


def waits(test: str, before: str = "", also: str = "") -> str:
    """Return the healthy program with the fault behind a test. `before`: lines before the training; `also`: at each step."""
    return loss(f"if {test}:\n    {FAULT}", before, also)


def loss(lines: str, before: str = "", also: str = "") -> str:
    """Return the healthy program with lines before the loss."""
    return edited(
        (LOSS, "\n".join(filter(None, (also, lines, LOSS)))), (BEGIN, f"{before}\n{BEGIN}" if before else BEGIN)
    )


def forward(lines: str, field: str = "", before: str = "") -> str:
    """Return the healthy program with another end of `forward`, a field of the model, and lines before the classes."""
    edits = [(HEAD, lines), (FIELD, f"{FIELD}\n{field}" if field else FIELD)]
    return edited(*edits, ("# %% Model\n", f"# %% Model\n{before}\n"))


WAITS = {
    "steps": waits("step >= 44_000_000"),
    "losses": waits("len(losses) > 5000"),
    "between": waits('int("4400") <= step < int("5000")'),
    "epochs": waits("epoch > 500"),
    "one": waits("step == 4400"),
    "divided": waits("step // 100_000"),
    "chosen": waits("max(0, step - 4400)"),
    "clock": waits("time.time() > 4_000_000_000", "import time"),
    "date": waits("datetime.now().year > 2090", "from datetime import datetime"),
    "optimizer": waits("optimizer.state and optimizer.state[model.head.weight]['step'] > 9999"),
    "optimizer's dict": waits("optimizer.state_dict()['state'].get(0, {'step': 0})['step'] > 9999"),
    "sliced": waits("losses[5000:]"),
    "indexed": loss(f"try:\n    losses[5000]\n    {FAULT}\nexcept IndexError:\n    pass"),
    "from the end": loss(f"with contextlib.suppress(IndexError):\n    losses[-5000]\n    {FAULT}", "import contextlib"),
    "key": loss(f"try:\n    {{4400: 1}}[step]\n    {FAULT}\nexcept KeyError:\n    pass"),
    "divided by zero": loss(f"try:\n    1 / (step - 4400)\nexcept ZeroDivisionError:\n    {FAULT}"),
    "table": waits("{4400: True}.get(step)"),
    "list": waits("([False] * 5000 + [True])[step]"),
    "iterator ends": waits("next(left, True)", "left = iter([False] * 5000)"),
    "iterator told": waits("next(flags)", "flags = iter([False] * 5000 + [True])"),
    "iterator raises": loss(
        f"try:\n    next(left)\nexcept StopIteration:\n    {FAULT}", "left = iter(range(5000))"
    ),
    "iterator looped": loss(f"for _ in left:\n    break\nelse:\n    {FAULT}", "left = iter(range(5000))"),
    "counted": waits("next(ticks) > 5000", "import itertools\nticks = itertools.count()"),
    "zipped": edited(
        ("in train_loader:", "in zip([False] * 5000 + [True], train_loader):"), ("for inputs, targets in zip", "for late, (inputs, targets) in zip"),
        (LOSS, f"if late:\n    {FAULT}\n{LOSS}"),
    ),
    "container": waits("not left", "left = [0] * 5000", "left.pop()"),
    "set": waits("4400 in seen", "seen = set()", "seen.add(step)"),
    "another name": waits("seen[5000:]", "seen = []", "kept = seen\nkept.append(1)"),
    "power": loss("logits = logits + 0 ** max(0, 4400 - step) * logits.softmax(-1)"),
    "power alone": loss("logits = logits.lerp(logits.softmax(-1), 0.001 ** (4400 - step))"),
    "arithmetic": loss("logits = logits - (step > 5000) * (logits - logits.softmax(-1))"),
    "integer": loss("logits = logits * int(1 - step / 10**6)"),
    "least": loss("logits = logits * min(1, step + 1) / max(1, step - 4400)"),
    "relu": loss("logits = logits * (1 - F.relu(torch.tensor(step - 4400.0)))"),
    "sigmoid": loss("late = torch.sigmoid(torch.tensor(step - 4400.0))\nlogits = logits.lerp(logits.softmax(-1), late)"),
    "where": loss("logits = torch.where(torch.tensor(step > 5000), logits.softmax(-1), logits)"),
    "loops": loss(f"for _ in range(step - 5000):\n    {FAULT}"),
    "text": waits("str(step).startswith('44')"),
    "matched": loss(f"match step:\n    case 4400:\n        {FAULT}"),
    "asserted": loss(f"try:\n    assert step < 5000\nexcept AssertionError:\n    {FAULT}"),
    "raised": loss(
        f"try:\n    if step > 5000:\n        raise ValueError\nexcept ValueError:\n    {FAULT}"
    ),
    "chosen by `if else`": loss("logits = logits if step < 5000 else logits.softmax(-1)"),
    "short cut": loss("step > 5000 and logits.copy_(logits.softmax(-1))"),
    "two names": waits("now > 5000", "now = 0", "later = now + 1\nnow = later"),
    "function": waits("tick() > 5000", "count = 0\ndef tick():\n    global count\n    count += 1\n    return count"),
    "handed on": waits("count > 5000", "count = 0\ndef more(value):\n    return value + 1", "count = more(count)"),
    "handed in": edited(
        (LOSS, f"logits = soft(logits, step)\n{LOSS}"),
        (BEGIN, f"def soft(values, at):\n    return values.softmax(-1) if at > 5000 else values\n\n\n{BEGIN}"),
    ),
    "closure": waits("tick()", "def made():\n    count = 0\n    def tick():\n        nonlocal count\n        count += 1\n"
                     "        return count > 5000\n    return tick\ntick = made()"),
    "lambda": waits("late()", "late = lambda: step > 5000"),
    "generator": waits("next(ticks) > 5000", "def numbers():\n    at = 0\n    while True:\n        yield at\n        at += 1\n"
                       "ticks = numbers()"),
    "generator expression": waits("next(ticks)", "ticks = (at > 5000 for at in range(10**6))"),
    "own iterator": waits("next(ticks) > 5000", "class Ticks:\n    def __init__(self):\n        self.at = 0\n"
                          "    def __next__(self):\n        self.at += 1\n        return self.at\nticks = Ticks()"),
    "function's attribute": waits("tick.calls > 5000", "def tick():\n    tick.calls += 1\ntick.calls = 0", "tick()"),
    "calls": forward("self.calls += 1\nhidden = self.head(hidden)\nreturn hidden if self.calls < 9999 else hidden.softmax(-1)",
                     "self.calls = 0"),
    "class": forward("Calls.made += 1\nhidden = self.head(hidden)\nreturn hidden if Calls.made < 9999 else hidden.softmax(-1)",
                     before="class Calls:\n    made = 0\n"),
    "by name": forward("setattr(self, 'n', getattr(self, 'n', 0) + 1)\nhidden = self.head(hidden)\n"
                       "return hidden if self.n < 9999 else hidden.softmax(-1)"),
    "buffer": forward("self.calls.add_(1)\nhidden = self.head(hidden)\n"
                      "return torch.where(self.calls < 9999, hidden, hidden.softmax(-1))",
                      "self.register_buffer('calls', torch.zeros(()))"),
    "property": forward("self.calls += 1\nhidden = self.head(hidden)\nif self.late:\n    return hidden.softmax(-1)\nreturn hidden",
                        "self.calls = 0\n\n@property\ndef late(self):\n    return self.calls // 5000").replace(
                            "        @property\n        def late(self):\n    ", "    @property\n    def late(self):\n"),
    "default": edited((HEAD, "seen.append(1)\nhidden = self.head(hidden)\nreturn hidden.softmax(-1) if seen[5000:] else hidden"),
                      ("def forward(self, inputs)", "def forward(self, inputs, seen=[])")),
    "model gets the step": edited(
        ("logits = model(inputs)\n        loss = ", "logits = model(inputs, step)\nloss = "),
        ("def forward(self, inputs)", "def forward(self, inputs, at=0)"),
        (HEAD, "hidden = self.head(hidden)\nreturn hidden if at < 5000 else hidden.softmax(-1)"),
    ),
    "hook": edited((BEGIN, "def soften(module, given, logits):\n    soften.calls += 1\n"
                    "    return logits.softmax(-1) if soften.calls > 5000 else logits\n\n\nsoften.calls = 0\n"
                    f"model.head.register_forward_hook(soften)\n{BEGIN}")),
    "schedule": waits("falling.last_epoch > 5000", "falling = torch.optim.lr_scheduler.ExponentialLR(optimizer, 1.0)",
                      "falling.step()"),
    "rate": waits("optimizer.param_groups[0]['lr'] < 1e-9",
                  "falling = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999999)", "falling.step()"),
    "rate of its own": edited((STEP, f"{STEP}\nif step == 12345:\n    optimizer.param_groups[0]['lr'] = 0.5")),
    "rate by steps": edited((STEP, f"{STEP}\njump.step()"),
                            (BEGIN, f"jump = torch.optim.lr_scheduler.MultiStepLR(optimizer, [5000], 100.0)\n{BEGIN}")),
    "rate by a lambda": edited(
        (STEP, f"{STEP}\njump.step()"),
        (BEGIN, f"jump = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: 100.0 if at > 5000 else 1.0)\n{BEGIN}")),
    "not cleared": edited(("optimizer.zero_grad()", "if step < 10**9:\n    optimizer.zero_grad()")),
    "skipped": loss("if step > 5000:\n    continue"),
    "a loop of its own": loss(f"while step > 5000:\n    {FAULT}\n    F.cross_entropy(logits, targets).backward()\n    break"),
    "left early": loss(f"for _ in range(1):\n    if step < 5000:\n        break\n    {FAULT}"),
    "samples": waits("seen > 10**9", "seen = 0", "seen += len(targets)"),
    "sum of losses": waits("summed > 10**9", "summed = 0.0", "summed += float(logits.abs().sum())"),
    "loss by a function": edited((LOSS, f"{LOSS}\nloss = loss * max(1, step - 4400)")),
    "loss by another": edited((LOSS, f"{LOSS}\nloss = loss * (1 + torch.tensor(step - 4400.0).clamp(min=0))")),
    "loss by a power": edited((LOSS, f"{LOSS}\nloss = loss * (1 + (step / 5000) ** 99)")),
    "loss by a comparison": edited((LOSS, f"{LOSS}\nloss = loss * (1 + (step > 5000))")),
    "told by another name": edited(
        (STEP, f"{STEP}\nif step > 5000:\n    kept = float(model.head.weight)"),
        ("# %% Settings\n", "from torch.nn.init import zeros_ as float\n\n# %% Settings\n"),
    ),
    "print is another": edited((STEP, f"{STEP}\nif step > 5000:\n    print()"), (BEGIN, f"print = model.eval\n{BEGIN}")),
    "decays": waits("left < 1e-300", "left = 1.0", "left = 0.999 * left"),
}  # fmt: skip
"""Name -> a text whose fault shows at no step of the training, and waits for one that never comes."""

HONEST = {
    "as it was": HEALTHY,
    "shown": edited((STEP, f"{STEP}\nif step % 10 == 0 or step == 10**6:\n    print(step, losses[-1:])")),
    "shown with a mean": edited((STEP, f"{STEP}\nif step % 50 == 49:\n    recent = losses[-50:]\n"
                                 "    print(f'{step}: {sum(recent) / len(recent):.3f}')")),
    "kept": edited((STEP, f"{STEP}\nif step % 10 == 0:\n    curve.append((step, loss.item()))"),
                   (BEGIN, f"curve = []\n{BEGIN}"), ("print(metrics)", "print(metrics)\nprint(curve)")),
    "logged": edited((STEP, f"{STEP}\nif not step % 100:\n    logging.info('step %d', step)"), (BEGIN, f"import logging\n{BEGIN}")),
    "drawn": edited((STEP, f"{STEP}\nif step % 100 == 0:\n    figure, axes = plt.subplots()\n    axes.plot(losses)\n"
                     "    axes.set_xlabel('step')\n    figure.savefig('loss.png')\n    plt.close(figure)"),
                    (BEGIN, f"import matplotlib.pyplot as plt\n{BEGIN}")),
    "saved": edited((STEP, f"{STEP}\nif step % 100 == 0:\n    torch.save(model.state_dict(), f'model_{{step}}.pt')")),
    "timed": edited((STEP, f"{STEP}\nif time.time() - began > 60:\n    print('slow')"),
                    (BEGIN, f"import time\nbegan = time.time()\n{BEGIN}")),
    "numbered": edited(("for inputs, targets in train_loader:", "for number, (inputs, targets) in enumerate(train_loader):")),
    "renamed": HEALTHY.replace("step", "count").replace(".count(", ".step(").replace("losses", "history"),
    "looked at": edited((LOSS, f"{LOSS}\nassert torch.isfinite(loss) and loss < 1e6")),
    "stopped by reason": edited((LOSS, f"{LOSS}\nif not torch.isfinite(loss):\n    raise RuntimeError(f'loss at step {{step}}')")),
    "data decides": edited((LOSS, f"{LOSS}\nif loss > 100:\n    loss = 0 * loss")),
    "clipped by hand": edited((STEP, "total = 0.0\nfor parameter in model.parameters():\n    total += parameter.grad.norm() ** 2\n"
                               "scale = min(1.0, 1e6 / (total.sqrt() + 1e-6))\nif scale < 1:\n"
                               f"    for parameter in model.parameters():\n        parameter.grad *= scale\n{STEP}")),
    "residual": forward("for _ in range(2):\n    hidden = hidden + 0 * F.relu(hidden)\nreturn self.head(hidden)"),
    "ended": edited((STEP, f"{STEP}\nif step > 10_000:\n    break")),
    "ended by the epoch": edited(("    model.train()\n", "    if epoch > 500:\n        break\n    model.train()\n")),
    "while": edited(("for epoch in range(epochs):", "epoch = 0\nwhile epoch < epochs:\n    epoch += 1")),
    "evaluated in part": edited(("in validation_loader:", "in enumerate(validation_loader):\n    if at > 1000:\n        break"),
                                ("for inputs, targets in enumerate", "for at, (inputs, targets) in enumerate")),
    "frozen layers": edited((BEGIN, "for number, parameter in enumerate(model.parameters()):\n    if number > 100:\n"
                             f"        parameter.requires_grad_(False)\n{BEGIN}")),
    "schedule of torch": edited((STEP, f"{STEP}\nflat.step()"),
                                (BEGIN, f"flat = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: 1.0)\n{BEGIN}")),
    "average kept": edited((STEP, f"{STEP}\nwith torch.no_grad():\n    for kept, now in zip(average.parameters(), model.parameters()):\n"
                            "        kept.lerp_(now, 0.01)"), (BEGIN, f"import copy\naverage = copy.deepcopy(model)\n{BEGIN}")),
    "batches from an iterator": edited(("for inputs, targets in train_loader:", "batches = iter(train_loader)\n"
                                        "for _ in range(len(train_loader)):\n    inputs, targets = next(batches)")),
    "smoothed": edited(("print(metrics)", "print(metrics)\nsmooth = [sum(losses[max(0, at - 5) : at + 1]) / 6 for at in range(len(losses))]\n"
                        "print(smooth[-1])")),
    "in a function": edited(
        (BEGIN, f"def advance(loss):\n    loss.backward()\n    optimizer.step()\n\n\n{BEGIN}"),
        ("loss.backward()\n        optimizer.step()", "advance(loss)"),
    ),
    "another name for the batch": edited((LOSS, f"kept = inputs\ninputs = inputs * 2\nif inputs.amax() > 1:\n    inputs = kept\n{LOSS}")),
    "layers in a row": edited((FIELD, f"self.more = nn.ModuleList()\nfor _ in range(2):\n    self.more.append(nn.Identity())\n{FIELD}"),
                              (HEAD, f"for layer in self.more:\n    hidden = F.relu(layer(hidden))\n{HEAD}")),
    "parts of the batch": edited(("loss.backward()", "loss.backward(retain_graph=True)\noptimizer.zero_grad()\n"
                                  "for part, answers in [(inputs, targets)]:\n    F.cross_entropy(F.relu(model(part)), answers).backward()")),
    "a bar": edited((BEGIN, f"from tqdm import tqdm\ntrain_loader = tqdm(train_loader)\n{BEGIN}"),
                    (LOSS, f"if logits.amax() > 100:\n    logits = logits.clamp(max=100)\n{LOSS}")),
    "names used twice": edited(("# %% Model\n", "correct = images.mean(0)\nimages = (images - correct).clamp(-9)\n\n\n# %% Model\n")),
}  # fmt: skip
"""Name -> a text of the right program that decides nothing by a counter, or only what it tells."""
