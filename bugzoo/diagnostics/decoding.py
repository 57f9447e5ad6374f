"""Does token-by-token generation match one forward pass over the whole text?

The script's own generation function is called twice, in eval mode. Each output of the model on the way is compared with its
output for the same text in one forward pass. `gap` is the largest difference of two next-token distributions (0: equal, 1:
nothing in common). `first_gap` is that of the first call, `later_gap` that of the second, which must not depend on the first. A
script without a function that calls the model in a loop and picks the next token from its output is not checked.
"""

import ast
from collections.abc import Iterator
from typing import Any

import torch

from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import quiet
from bugzoo.rerun.permit import ask
from bugzoo.rerun.restore import same_containers
from bugzoo.running.result import Run
from bugzoo.syntax import parse

COST = 1
SHOWN = {
    "gap": ("largest difference between stepwise and full next-token distributions", "0"),
    "first_gap": ("first text token by token and at once, difference", "0 to 0.001"),
    "later_gap": ("second text token by token and at once, difference", "0 to 0.001"),
    "written": ("generated tokens that were compared", ""),
}
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
LEAST = 1e-3
"""A smaller gap is rounding."""


def _writers(run: Run) -> Iterator[tuple[Any, torch.nn.Module, ast.Call]]:
    """(function, model, call of the function at the script's top level) of each generation function."""
    tree = parse(run.source)
    for made in tree.body:
        if not isinstance(made, ast.FunctionDef):
            continue
        loops = [one for one in ast.walk(made) if isinstance(one, ast.For | ast.While)]
        calls = [one for loop in loops for one in ast.walk(loop) if isinstance(one, ast.Call)]
        named = {one.func.id for one in calls if isinstance(one.func, ast.Name)}
        models = [run.namespace[name] for name in sorted(named) if isinstance(run.namespace.get(name), torch.nn.Module)]
        if not models or not any(isinstance(one.func, ast.Attribute) and one.func.attr in _DRAWS for one in calls):
            continue
        outside = [one for part in tree.body if part is not made for one in ast.walk(part)]
        for one in outside:
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == made.name:
                yield run.namespace.get(made.name), models[0], one
                break


def _work_out(run: Run, call: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, evaluated with the script's variables."""

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<call>", "eval"), run.namespace)

    return [value(one) for one in call.args], {one.arg: value(one.value) for one in call.keywords if one.arg}


def _gap(model: torch.nn.Module, asked: list[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Largest mean distance between the model's outputs on the way and those for the whole text."""
    text, worst = asked[0][0][:, :0], 0.0
    for tokens, said in asked:
        longer = tokens.shape[1] > text.shape[1] and torch.equal(tokens[:, : text.shape[1]], text)
        text = tokens if longer else torch.cat([text, tokens], 1)
        whole = model(text)
        distance = (said[:, -1].softmax(-1) - whole[:, -1].softmax(-1)).abs().sum(-1) / 2
        worst = max(worst, float(distance.mean()))
    return worst


def measure(run: Run) -> dict[str, Any]:
    """Gaps between 0 and 1, and how many tokens were compared. Raises NotApplicable without a generation function."""
    found = next(_writers(run), None) if run.namespace and run.source else None
    if found is None:
        raise NotApplicable(
            "no function of the script calls a model in a loop and picks the next token from its output"
        )
    ask(run)
    write, model, call = found
    gaps: list[float] = []
    count = 0
    with quiet(model), torch.no_grad(), same_containers(run.namespace):
        for _ in range(2):
            asked: list[tuple[torch.Tensor, torch.Tensor]] = []

            def note(_: Any, given: Any, said: Any, into: list[Any] = asked) -> None:
                if given and isinstance(said, torch.Tensor) and said.ndim == 3 and given[0].ndim == 2:
                    into.append((given[0].clone(), said.clone()))

            hook = model.register_forward_hook(note)
            try:
                given, named = _work_out(run, call)
                write(*given, **named)
            except Exception as error:
                raise NotApplicable(f"the generation function could not be called again ({error})") from None
            finally:
                hook.remove()
            if not asked:
                raise NotApplicable("the generation function did not call the model with a batch of tokens")
            try:
                gaps.append(_gap(model, asked))
            except Exception as error:
                raise NotApplicable(f"the model cannot be called with the whole text ({error})") from None
            count += len(asked)
    return {"gap": max(gaps), "first_gap": gaps[0], "later_gap": gaps[1], "written": float(count)}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if the two differ by more than rounding."""
    gap, shown = numbers["gap"], {name: numbers[name] for name in SHOWN}
    if gap <= LEAST:
        text = "token by token, the model gives the same next-token distributions as for the whole text"
        return Verdict("decoding", False, text, shown)
    text = f"token by token, {gap:.2g} of the next-token probability differs from that for the whole text (usually 0)"
    causes = ("generation/cache_off_by_one", "generation/positions_restart", "generation/cache_stale_between_prompts")
    suspects = tuple(Suspect(cause, 0.4, text) for cause in causes)
    return Verdict("decoding", True, text, shown, suspects)
