"""What are the input and output shapes of each module?

The last kept batch goes through the model once more, in eval mode. `path` holds a line for each module that computes
something, in the order of the calls. Follow the first axis: it is the number of samples. Where it changes, a module mixes samples
with features (`view(-1, ...)`, a `flatten` of the batch axis, a recurrent layer with another axis order). An output axis of 1
beside targets without it is broadcast in the loss. The verdict never fires: sequences that are flattened before the loss, and
pairs that are stacked, change their first axis on purpose.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Verdict
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run

COST = 1
VIEW = "layers"
ACCUSES = False
KNOWN_PROBLEMS = (
    "It never fires, because the first axis also changes on purpose, where sequences are flattened or pairs are "
    "stacked. "
    "It does not locate reshapes between modules, and misses mixed samples that keep the size of the first axis."
)
HEALTHY = example()
SICK = example(("nn.ReLU()", "nn.Flatten(0)"), ("nn.Linear(32, 3))", "nn.Unflatten(0, (-1, 16)), nn.Linear(16, 3))"),
               ("targets[rows])", "targets[rows].repeat_interleave(2))"),
               ("(model(inputs).argmax(1) == targets)", "(model(inputs).argmax(1)[::2] == targets)"))  # fmt: skip
MOST = 200
"""Most calls in `path`."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Sizes and places, from 1; `path`: a line "name (type): shape -> shape" for each call; `target_axes` NaN without targets."""

    samples_in: float = number("first axis of the input")
    samples_out: float = number("first axis of the output", "that of the input")
    changed_at: float = number("first module call that changes the first axis, 0 for none", (0, 0))
    answer_axes: float = number("axes of the output")
    target_axes: float = number("axes of the targets")
    modules: float = number("modules that were called", hidden="the picture has a row for each")
    path: list[str]


def measure(run: Run) -> Numbers:
    """The path as text, and its ends as numbers. Raises NotApplicable without an input tensor."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    main = arguments.main()
    if main is None:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    rows, path, changed = arguments.leaves[main].shape[0], list[str](), list[int]()
    with quiet(model_of(run, batch)) as model:
        names = {module: name or type(module).__name__ for name, module in model.named_modules()}

        def note(module: torch.nn.Module, inputs: Any, answer: Any) -> None:
            entered, left = tensors(inputs), tensors(answer)
            if not entered or not left or len(path) >= MOST:
                return
            before, after = tuple(entered[0].shape), tuple(left[0].shape)
            path.append(f"{names[module]} ({type(module).__name__}): {before} -> {after}")
            if not changed and before and after and before[0] == rows != after[0]:
                changed.append(len(path))

        leaves = [module for module in names if not any(module.children())]
        hooks = [module.register_forward_hook(note) for module in leaves]
        try:
            out = call(model, batch.args, batch.kwargs)
        finally:
            for hook in hooks:
                hook.remove()
    return Numbers(
        modules=float(len(path)),
        samples_in=float(rows),
        samples_out=float(out.shape[0]),
        changed_at=float(changed[0]) if changed else 0.0,
        answer_axes=float(out.ndim),
        target_axes=float(batch.targets.ndim) if batch.targets is not None else math.nan,
        path=path,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Never fires: it says where the first axis changes, and the script says whether on purpose."""
    text = f"the input has {numbers.samples_in:.0f} samples, the output {numbers.samples_out:.0f}"
    at = int(numbers.changed_at)
    if at and numbers.path:
        text += f"; the first axis changes at {numbers.path[at - 1]}"
    return Verdict("shape_trace", False, text, numbers.labeled())
