"""Does token-by-token generation match one forward pass over the whole text?

The script's own generation function is called twice, in eval mode. Each output of the model on the way is compared with its
output for the same text in one forward pass. `gap` is the largest difference of two next-token distributions (0: equal, 1:
nothing in common). `first_gap` is that of the first call, `later_gap` that of the second, which must not depend on the first. A
script without a function that calls the model in a loop and picks the next token from its output is not checked.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics.conditions import Alarm, above, measured
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import quiet
from bugzoo.rerun.permit import ask
from bugzoo.rerun.restore import same_containers
from bugzoo.running.result import Run
from bugzoo.syntax import parse

COST = 1
VIEW = "repeat"
TITLE = "Text written token by token"
KNOWN_PROBLEMS = (
    "A false positive once the text outgrows a sliding window, if the model accepts longer texts, and for beam search that "
    "reorders rows. "
    "It says nothing about generation inside a method, such as model.generate(), or in a function that calls the model "
    "under a local name."
)
_SCRIPT = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tokens = torch.arange(64) % 7

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(7, 8), nn.Linear(8, 7)

    def forward(self, inputs, kept=None):
        hidden = self.table(inputs).cumsum(1) + (kept[-1] if kept else 0)
        if kept is not None:
            kept.append(hidden[:, -1:])
        return self.head(hidden)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for start in range(20):
    optimizer.zero_grad()
    logits = model(tokens[None, start : start + 16])
    loss = F.cross_entropy(logits[0], tokens[start + 1 : start + 17])
    loss.backward()
    optimizer.step()

@torch.no_grad()
def write(inputs, count):
    kept, text = [], inputs
    for _ in range(count):
        inputs = model(inputs, kept)[:, -1].argmax(-1, keepdim=True)
        text = torch.cat([text, inputs], 1)
    return text

model.eval()
print(write(tokens[None, :4], 4))
"""
HEALTHY = Example(_SCRIPT)
SICK = Example(_SCRIPT.replace("kept.append(hidden[:, -1:])", "kept.append(hidden[:, :1])"))
_DRAWS = ("multinomial", "argmax", "topk", "sample", "max", "choice")


@dataclass(kw_only=True)
class Numbers(Measured):
    """Differences between 0 and 1."""

    first_gap: float = number("first text token by token and at once, difference", (0, 0.001))
    later_gap: float = number("second text token by token and at once, difference", (0, 0.001))
    written: float = number("generated tokens that were compared")
    gap: float = number(
        "largest difference between stepwise and full next-token distributions", (0, 0), hidden="the larger of two rows"
    )


stepwise_gap = Alarm(
    above("gap", 1e-3) | ~measured("gap"),
    "A text was written token by token and passed as a whole. The probabilities of the next token differ by {gap:.2g}.",
    "They should be equal; up to {limits[gap]:.3f} passes.",
)
"""A smaller gap is rounding."""
ALARMS = (stepwise_gap,)


def _writers(run: Run) -> Iterator[tuple[Any, torch.nn.Module, ast.Call]]:
    """(function, model, call of the function at the script's top level) of each generation function."""
    tree = parse(run.source)
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
        calls = [node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call)]
        names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
        models = [run.namespace[name] for name in sorted(names) if isinstance(run.namespace.get(name), torch.nn.Module)]
        if not models or not any(isinstance(call.func, ast.Attribute) and call.func.attr in _DRAWS for call in calls):
            continue
        outside = [node for part in tree.body if part is not function for node in ast.walk(part)]
        for node in outside:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
                yield run.namespace.get(function.name), models[0], node
                break


def _work_out(run: Run, call: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, evaluated with the script's variables."""

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<call>", "eval"), run.namespace)

    return [value(arg) for arg in call.args], {named.arg: value(named.value) for named in call.keywords if named.arg}


def _gap(model: torch.nn.Module, calls: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Largest mean distance between the model's outputs on the way and those for the whole text."""
    text, worst = calls[0][0][:, :0], 0.0
    for tokens, output in calls:
        longer = tokens.shape[1] > text.shape[1] and torch.equal(tokens[:, : text.shape[1]], text)
        text = tokens if longer else torch.cat([text, tokens], 1)
        whole = model(text)
        distance = (output[:, -1].softmax(-1) - whole[:, -1].softmax(-1)).abs().sum(-1) / 2
        worst = max(worst, float(distance.mean()))
    return worst


def measure(run: Run) -> Numbers:
    """Gaps between 0 and 1, and how many tokens were compared. Raises NotApplicable without a generation function."""
    writer = next(_writers(run), None) if run.namespace and run.source else None
    if writer is None:
        raise NotApplicable(
            "no function of the script calls a model in a loop and picks the next token from its output"
        )
    ask(run)
    write, model, call = writer
    gaps: list[float] = []
    count = 0
    with quiet(model), torch.no_grad(), same_containers(run.namespace):
        for _ in range(2):
            calls: list[tuple[torch.Tensor, torch.Tensor]] = []

            def note(_: Any, args: Any, output: Any, into: list[Any] = calls) -> None:
                if args and isinstance(output, torch.Tensor) and output.ndim == 3 and args[0].ndim == 2:
                    into.append((args[0].clone(), output.clone()))

            hook = model.register_forward_hook(note)
            try:
                args, kwargs = _work_out(run, call)
                write(*args, **kwargs)
            except Exception as error:
                raise NotApplicable(f"the generation function could not be called again ({error})") from None
            finally:
                hook.remove()
            if not calls:
                raise NotApplicable("the generation function did not call the model with a batch of tokens")
            try:
                gaps.append(_gap(model, calls))
            except Exception as error:
                raise NotApplicable(f"the model cannot be called with the whole text ({error})") from None
            count += len(calls)
    return Numbers(first_gap=gaps[0], later_gap=gaps[1], written=float(count), gap=max(gaps))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if the two differ by more than rounding."""
    if not stepwise_gap(numbers):
        text = "token by token, the model gives the same next-token distributions as for the whole text"
        return Verdict("decoding", False, text, numbers.labeled())
    text = f"token by token, {numbers.gap:.2g} of the next-token probability differs from that for the whole text"
    text += f" (usually {Numbers.usual('gap')})"
    causes = ("generation/cache_off_by_one", "generation/positions_restart", "generation/cache_stale_between_prompts")
    suspects = tuple(Suspect(cause, 0.4, text) for cause in causes)
    return Verdict("decoding", True, text, numbers.labeled(), suspects)
