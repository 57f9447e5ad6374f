"""Does the script end with its best weights, and which data selected them?

A script that evaluates after each epoch and keeps a copy of the best weights wants to end with them. Every copy of the model's
weights among the script's variables is loaded into the model, and the script's own evaluation is run once more. `better` is how
much lower its loss is then, as a share. A copy that the model does end with was selected on some data. If the loop reads the
reported data itself, and another dataset is never read, the selection has seen the data that judges it (`chosen_on_report`).
"""

import ast
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick, share
from bugzoo.diagnostics.train_validation_overlap import _LOADERS
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live
from bugzoo.rerun.restore import with_weights
from bugzoo.running.result import Run
from bugzoo.syntax import called, parse

COST = 1
SHOWN = {
    "copies": ("copies of the weights that the script holds", ""),
    "loss": ("loss in the evaluation with the final weights", ""),
    "kept_loss": ("loss in the evaluation with the best of the copies", "not lower than with the final ones"),
    "better": ("share by which the loss of the copy is lower", "up to 0.01"),
    "restored": ("copies that equal the final weights", ""),
}
KNOWN_PROBLEMS = (
    "A false positive for an EMA copy, a teacher or an ensemble member of the same architecture with an evaluation "
    "loss over 1 % lower. "
    "It misses weights that only a file, a list or an object's attribute holds, and says nothing about an evaluation "
    "without a loss."
)
_KEPT = ("for epoch", "import copy\nfor epoch")
_EARLY = (
    "        pass\nmodel.eval()",
    "        pass\n    if epoch == 3:\n        best = copy.deepcopy(model.state_dict())\n{}model.eval()",
)
_SPOILT = "with torch.no_grad():\n    model[2].bias += torch.tensor([2.0, 0.0, -2.0])\n"
HEALTHY = example(*_LOADERS, _KEPT, (_EARLY[0], _EARLY[1].format(_SPOILT + "model.load_state_dict(best)\n")))
SICK = example(*_LOADERS, _KEPT, (_EARLY[0], _EARLY[1].format(_SPOILT)))
MUCH = 0.01


def _copies(run: Run, model: torch.nn.Module) -> list[Mapping[str, torch.Tensor]]:
    """Dicts with the names and shapes of the model's weights, in memory of their own; also inside a dict or a model."""
    own, found = model.state_dict(), []
    names = run.namespace or live(run).namespace
    for value in list(names.values()):
        for one in (value, *(value.values() if isinstance(value, dict) else ())):
            if isinstance(one, torch.nn.Module) and one is not model and type(one) is type(model):
                one = one.state_dict()
            if isinstance(one, Mapping) and one and one.keys() == own.keys() and _alike(one, own):
                found.append(one)
    return found


def _alike(one: Mapping[str, Any], own: Mapping[str, torch.Tensor]) -> bool:
    def other(a: Any, b: torch.Tensor) -> bool:
        return isinstance(a, torch.Tensor) and a.shape == b.shape and (a.data_ptr() != b.data_ptr() or not a.numel())

    return all(other(one[name], value) for name, value in own.items())


def _asked(run: Run, again: bool) -> float:
    found = evaluated(run, again=again)
    if not found.pairs:
        raise NotApplicable("the script's evaluation computes no loss")
    return found.loss()


def measure(run: Run) -> dict[str, Any]:
    """Losses and counts. Raises NotApplicable if no copy of the weights was kept, or no loss is evaluated."""
    model = live(run).models[0] if live(run).models else None
    copies = _copies(run, model) if model is not None else []
    if model is None or not copies:
        raise NotApplicable("the script holds no copy of its model's weights")
    before = {name: value.detach().clone() for name, value in model.state_dict().items()}
    restored = [
        one for one in copies if all(torch.equal(one[name].cpu(), value.cpu()) for name, value in before.items())
    ]
    loss = _asked(run, again=False)
    losses = []
    for one in copies[:4]:
        with with_weights(model, one):
            losses.append(_asked(run, again=True))
    best = min(losses)
    return {
        "copies": float(len(copies)),
        "loss": loss,
        "kept_loss": best,
        "better": (loss - best) / (abs(loss) + 1e-12),
        "restored": float(len(restored)),
        "chosen_on_report": float(bool(restored) and _chosen_on_report(run)),
    }


def _chosen_on_report(run: Run) -> bool:
    """Does the training loop read the data that is reported, while another dataset is never read?"""
    names, training = run.namespace or live(run).namespace, training_loader(run)
    reported = {id(one.dataset) for one in evaluated(run).loaders}
    loaders = {name: one for name, one in names.items() if isinstance(one, DataLoader)}
    if training is None or not reported:
        return False
    body = parse(run.source).body
    loops = [one for one in body if isinstance(one, ast.For | ast.While) and "backward" in called(one)]
    read = {node.id for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Name)}
    chosen = {id(one.dataset) for name, one in loaders.items() if name in read} - {id(training.dataset)}
    unread = {id(one.dataset) for one in loaders.values()} - chosen - reported - {id(training.dataset)}
    return bool(chosen & reported) and bool(unread)


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if a kept copy is better by more than 1 %, or was selected on the data that is reported."""
    shown = pick(numbers, *SHOWN)
    if numbers["better"] > MUCH:
        text = f"with a copy of the weights that the script kept, its evaluation loss is {numbers['kept_loss']:.4g}"
        text += f", {share(numbers['better'])} lower than with the final weights ({numbers['loss']:.4g})"
        return Verdict("kept_weights", True, text, shown, (Suspect("resume/last_instead_of_best", 0.85, text),))
    if numbers["chosen_on_report"]:
        text = "the final weights were selected by a loop that reads the reported data itself, "
        text += "and another held-out set is never read"
        return Verdict("kept_weights", True, text, shown, (Suspect("metrics/epoch_chosen_on_test", 0.85, text),))
    return Verdict("kept_weights", False, "no kept copy of the weights is better than the final ones", shown)
