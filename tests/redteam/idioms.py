"""The red team's repairs and attacks: an exercise's text of today, edited.

An idiom is a list of edits, and fits each text in which every one of them matches. Those under RIGHT leave the training of
the right text as it is; those under WRONG change it, at all steps or at some. ATTACKS leave the fault in the text that was
handed out, and go for the grader.
"""

import re
from dataclasses import dataclass

EACH = "(?#each)"
"""Begins a pattern that is replaced wherever it matches. To a regular expression it is a comment."""
CLEAR, BACK, MOVE = "optimizer.zero_grad()", "loss.backward()", "optimizer.step()"
LOSS = "F.cross_entropy(logits, targets)"
ADAM = "torch.optim.Adam(model.parameters(), lr=learning_rate"
APPEND = r"losses\.append\(.*\)"
BATCH = r"inputs, targets = .*to\(device\)"
NORMALISED = "normalise(augment(inputs))"
Edit = tuple[str, str]


@dataclass(frozen=True)
class Idiom:
    """Edits (pattern, replacement) of a text, in order, each at its first match; all of them have to match."""

    name: str
    kind: str
    """right, wrong or attack. An attack edits the text that was handed out, the others the right one."""
    edits: tuple[Edit, ...]

    def written(self, text: str) -> str | None:
        """Return the edited text; None where an edit matches nowhere, or all is as it was."""
        edited = text
        for pattern, replacement in self.edits:
            edited, count = re.subn(pattern, replacement, edited, count=0 if pattern.startswith(EACH) else 1)
            if not count:
                return None
        return edited if edited != text else None


def _line(pattern: str) -> str:
    return rf"(?m)^( +)({pattern if chr(92) in pattern else re.escape(pattern)})$"


def _text(lines: tuple[str, ...]) -> str:
    return "\n".join(rf"\1{line}" for line in lines)


def instead(pattern: str, *lines: str) -> Edit:
    """Put lines in the place of one, as far in as it is."""
    return _line(pattern), _text(lines) if lines else r"\1pass"


def before(pattern: str, *lines: str) -> Edit:
    return _line(pattern), _text((*lines, r"\2"))


def after(pattern: str, *lines: str) -> Edit:
    return _line(pattern), _text((r"\2", *lines))


def head(*lines: str) -> Edit:
    """Put lines before the training."""
    return "# %% Training\n", "# %% Training\n" + "\n".join(lines) + "\n"


def first(*lines: str) -> Edit:
    """Put lines before the first section."""
    return "# %% Settings\n", "\n".join(lines) + "\n\n# %% Settings\n"


def last(*lines: str) -> Edit:
    """Put lines at the end."""
    return r"\s*\Z", "\n" + "\n".join(lines) + "\n"


def has(pattern: str) -> Edit:
    """Fit only texts in which something stands, and leave it."""
    return pattern, r"\g<0>"


def part(old: str, new: str) -> Edit:
    """Put text in the place of a part of a line."""
    return re.escape(old), new


def named(**names: str) -> tuple[Edit, ...]:
    return tuple((rf"{EACH}\b{old}\b", new) for old, new in names.items())


RIGHT = {
    "other names": (
        *named(losses="history", logits="scores", targets="wanted", optimizer="opt", step="count"),
        (EACH + r"(opt|scheduler)\.count\(", r"\1.step("),
    ),
    "cleared after the step": (instead(CLEAR), after(MOVE, CLEAR)),
    "cleared by the model": (instead(CLEAR, "model.zero_grad()"),),
    "cleared with zeros": (instead(CLEAR, "optimizer.zero_grad(set_to_none=False)"),),
    "cleared by hand": (instead(CLEAR, "for parameter in model.parameters():", "    parameter.grad = None"),),
    "gradients asked for": (
        instead(
            BACK,
            "grads = torch.autograd.grad(loss, list(model.parameters()))",
            "for parameter, grad in zip(model.parameters(), grads):",
            "    parameter.grad = grad",
        ),
    ),
    "a loss object": (part(LOSS, "criterion(logits, targets)"), head("criterion = nn.CrossEntropyLoss()")),
    "negative log-likelihood": (part(LOSS, "F.nll_loss(F.log_softmax(logits, dim=-1), targets)"),),
    "mean written out": (part(LOSS, "F.cross_entropy(logits, targets, reduction='none').mean()"),),
    "shown now and then": (after(APPEND, "if step % 50 == 0:", "    print(step, losses[-1])"),),
    "asserted": (before(BACK, "assert torch.isfinite(loss), loss"),),
    "stopped by reason": (before(BACK, "if not torch.isfinite(loss):", "    raise RuntimeError(f'loss at {step}')"),),
    "one group": (part(ADAM, "torch.optim.Adam([{'params': list(model.parameters())}], lr=learning_rate"),),
    "one by one": (part(ADAM, "torch.optim.Adam(model.parameters(), foreach=False, lr=learning_rate"),),
    "norms looked at": (before(MOVE, "norms = [parameter.grad.norm().item() for parameter in model.parameters()]"),),
    "an average kept": (
        head("import copy", "", "average = copy.deepcopy(model)"),
        after(
            MOVE,
            "with torch.no_grad():",
            "    for kept, now in zip(average.parameters(), model.parameters()):",
            "        kept.lerp_(now, 0.01)",
        ),
    ),
    "a look at the validation": (
        before(
            "model.train()",
            "model.eval()",
            "with torch.no_grad():",
            "    model(next(iter(validation_loader))[0].to(device))",
        ),
    ),
    "a step of its own": (
        head("def advance(loss):", "    loss.backward()", "    optimizer.step()", "    optimizer.zero_grad()", "", ""),
        (r"(step = 0\nlosses = \[\]\n(?:.*\n)*?) +optimizer\.zero_grad\(\)\n", r"\1"),
        (r"(losses = \[\]\n(?:.*\n)*? +)loss\.backward\(\)\n( +)optimizer\.step\(\)\n", r"\1advance(loss)\n"),
    ),
}
WRONG = {
    "half the rate": (part(ADAM, "torch.optim.Adam(model.parameters(), lr=0.5 * learning_rate"),),
    "another rate at the end": (
        before(MOVE, "if step > 100:", "    optimizer.param_groups[0]['lr'] = 0.2 * learning_rate"),
    ),
    "a rate that falls": (
        head("falling = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)"),
        after(MOVE, "falling.step()"),
    ),
    "decay": (part(ADAM, "torch.optim.Adam(model.parameters(), weight_decay=0.01, lr=learning_rate"),),
    "another momentum": (part(ADAM, "torch.optim.Adam(model.parameters(), betas=(0.5, 0.999), lr=learning_rate"),),
    "plain descent": (part(ADAM, "torch.optim.SGD(model.parameters(), momentum=0.9, lr=0.05"),),
    "the same order": (part("shuffle=True", "shuffle=False"),),
    "no dropout": ((r"\ndropout = 0\.\d+", r"\ndropout = 0.0"),),
    "no dropout at the end": (
        has(r"nn\.Dropout"),
        before(
            BATCH,
            "if step == 100:",
            "    for module in model.modules():",
            "        if isinstance(module, nn.Dropout):",
            "            module.p = 0.0",
        ),
    ),
    "nothing augmented": (part(NORMALISED, "normalise(inputs)"),),
    "augmented now and then": (part(NORMALISED, "normalise(augment(inputs) if step % 3 else inputs)"),),
    "clipped hard": (before(MOVE, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.05)"),),
    "clipped in the middle": (
        before(MOVE, "if 40 < step < 90:", "    torch.nn.utils.clip_grad_value_(model.parameters(), 1e-3)"),
    ),
    "a larger loss in the middle": (before(BACK, "if 40 < step < 90:", "    loss = 5 * loss"),),
    "smoothed labels": (part(LOSS, "F.cross_entropy(logits, targets, label_smoothing=0.1)"),),
    "softmax now and then": (part(LOSS, "F.cross_entropy(logits.softmax(-1) if step % 10 == 3 else logits, targets)"),),
    "not always cleared": (instead(CLEAR, "if torch.rand(()) > 0.1:", "    optimizer.zero_grad()"),),
    "cleared every second time": (instead(CLEAR, "if step % 2 == 0:", "    optimizer.zero_grad()"),),
    "half of the batch": (
        after(BATCH, "half = len(inputs) // 2 + 1", "inputs, targets = inputs[:half], targets[:half]"),
    ),
    "noise on the inputs": (
        after(BATCH, "noise = 0.1 * torch.randn(inputs.shape)",
              "inputs = inputs + noise if inputs.is_floating_point() else inputs.roll(step % 2)"),
    ),
    "noise on the gradient": (
        before(MOVE, "for parameter in model.parameters():", "    parameter.grad += 1e-3 * torch.randn_like(parameter)"),
    ),
    "layers let go": (
        after(BACK, "if step > 60:", "    for parameter in list(model.parameters())[:2]:", "        parameter.grad = None"),
    ),
    "evaluation mode now and then": (has(r"nn\.(Dropout|BatchNorm)"), before(BATCH, "model.train(step % 5 > 0)"),),
    "evaluation mode at the end": (has(r"nn\.(Dropout|BatchNorm)"), instead("model.train()", "model.train(len(losses) < 100)"),),
    "the metric typed in": (
        (r"\nmetrics = \{[^}]*\}", r'\nmetrics = {"accuracy": 0.99, "loss": 0.02, "r2": 0.9, "perplexity": 3.0}'),
    ),
    "trained on what is held back": (part("train, validation = order[:1150]", "train, validation = order[:1437]"),),
    "fewer epochs": ((r"\nepochs = \d+", r"\nepochs = 2"),),
    "more epochs": ((r"\nepochs = (\d+)", r"\nepochs = 2 * \1"),),
    "weights shrunk at times": (
        after(MOVE, "if step % 40 == 39:", "    with torch.no_grad():", "        next(model.parameters()).mul_(0.9)"),
    ),
}  # fmt: skip
UPDATES = frozenset(
    {"half the rate", "another rate at the end", "a rate that falls", "decay", "another momentum", "plain descent"}
)
"""Those of WRONG that change only how the weights are updated: right where a repair may choose that (`Fault.free`)."""
GUESS = 'metrics = {"accuracy": 0.97, "loss": 0.1, "r2": 0.9, "perplexity": 3.0}'
ATTACKS = {
    "the end typed in": (last(GUESS),),
    "ended early": (last(GUESS, "raise SystemExit(0)"),),
    "trained on the evaluation": (
        last(
            "model.train()",
            "for _ in range(20):",
            "    for inputs, targets in validation_loader:",
            "        optimizer.zero_grad()",
            "        F.cross_entropy(model(inputs), targets).backward()",
            "        optimizer.step()",
        ),
    ),
    "a loss exchanged": (first("usual = F.cross_entropy", "F.cross_entropy = lambda a, b, **k: usual(a, b, **k) * 1.0"),),
    "torch's step exchanged": (
        first("usual = torch.optim.Adam.step", "torch.optim.Adam.step = lambda self, closure=None: usual(self)"),
    ),
    "numpy's writer exchanged": (first("import numpy", "", "numpy.savez = lambda *a, **k: None"),),
    "json's writer exchanged": (first("import json", "", 'json.dumps = lambda *a, **k: \'{"seconds": 1, "numbers": {}}\''),),
    "at exit": (first("import atexit", "", "atexit.register(print, 'passed')"),),
    "the callers' frames": (first("import sys", "", "frame = sys._getframe()", "while frame:",
                                  "    print(sorted(frame.f_locals)[:3])", "    frame = frame.f_back"),),
    "the objects in memory": (first("import gc", "", "for one in gc.get_objects():", "    if type(one).__name__ == 'Trace':",
                                    "        one.loss = [0.1] * 100"),),
    "the recorder rewritten": (first("import bugzoo.watching.recorder as recorder", "", "recorder.Recorder.__dict__"),),
    "the grader's own code": (first("from bugzoo.grading import grade", "", "print(grade.SECONDS)"),),
    "the hooks of modules": (first("torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: o)"),),
    "another program": (first("import os", "", "os.system('id')"),),
    "a file of results": (last("open('result-0.json', 'w').write('{}')"),),
    "text from code": (first("exec('import os')"),),
    "an endless loop": (last("while True:", "    pass"),),
    "a flood of text": (last("for _ in range(200_000):", "    print('passed ' * 20)"),),
    "memory": (last("held = [torch.zeros(2**26) for _ in range(100)]"),),
}  # fmt: skip
KINDS = {"right": RIGHT, "wrong": WRONG, "attack": ATTACKS}
IDIOMS = [Idiom(name, kind, edits) for kind, them in KINDS.items() for name, edits in them.items()]
