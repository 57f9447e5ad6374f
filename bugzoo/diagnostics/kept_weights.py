"""Does the script end with its best weights, and which data selected them?

A script that evaluates after each epoch and keeps a copy of the best weights wants to end with them. Every copy of the model's
weights among the script's variables is loaded into the model, and the script's own evaluation is run once more. `better` is how
much lower its loss is then, as a share. A copy that the model does end with was selected on some data. If the loop reads the
reported data itself, and another dataset is never read, the selection has seen the data that judges it (`chosen_on_report`).
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._data import training_loader
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import share
from bugzoo.diagnostics.conditions import Alarm, above
from bugzoo.diagnostics.numbers import ANY, FLAG, Measured, judges, number
from bugzoo.diagnostics.train_validation_overlap import _LOADERS
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live, variables
from bugzoo.rerun.restore import with_weights
from bugzoo.running.result import Run
from bugzoo.syntax import called, parse

COST = 1
VIEW = "evaluation"
TITLE = "Final weights"
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


@dataclass(kw_only=True)
class Numbers(Measured):
    """Losses of the script's own evaluation, and counts of copies."""

    copies: float = number("copies of the weights that the script holds")
    restored: float = number("copies that equal the final weights")
    loss: float = number("loss in the evaluation with the final weights")
    kept_loss: float = number(
        "loss in the evaluation with the best of the copies", "not lower than with the final ones"
    )
    better: float = number("share by which the loss of the copy is lower", (-ANY, 0.01))
    chosen_on_report: float = number(hidden=FLAG)


worse = Alarm(
    above("better", 0.01),
    "The evaluation ran with each copy of the weights. Its loss is {kept_loss:.4g} with one copy and {loss:.4g} with "
    "the final weights.",
    "The final weights may be worse by at most {limits[better]:.0%}.",
)
selected_on_report = Alarm(
    above("chosen_on_report"),
    "The data that selected the final weights was recorded. It is the reported data, and 0 other held-out sets "
    "are read.",
    "Other held-out data should select them.",
)
ALARMS = (worse, selected_on_report)


def _copies(run: Run, model: torch.nn.Module) -> list[Mapping[str, torch.Tensor]]:
    """Dicts with the names and shapes of the model's weights, in memory of their own; also inside a dict or a model."""
    final, copies = model.state_dict(), []
    names = variables(run)
    for value in list(names.values()):
        for item in (value, *(value.values() if isinstance(value, dict) else ())):
            if isinstance(item, torch.nn.Module) and item is not model and type(item) is type(model):
                item = item.state_dict()
            if isinstance(item, Mapping) and item and item.keys() == final.keys() and _matches(item, final):
                copies.append(item)
    return copies


def _matches(weights: Mapping[str, object], final: Mapping[str, torch.Tensor]) -> bool:
    def other(a: object, b: torch.Tensor) -> bool:
        return isinstance(a, torch.Tensor) and a.shape == b.shape and (a.data_ptr() != b.data_ptr() or not a.numel())

    return all(other(weights[name], value) for name, value in final.items())


def _loss(run: Run, again: bool) -> float:
    evaluation = evaluated(run, again=again)
    if not evaluation.pairs:
        raise NotApplicable("the script's evaluation computes no loss")
    return evaluation.loss()


def measure(run: Run) -> Numbers:
    """Losses and counts. Raises NotApplicable if no copy of the weights was kept, or no loss is evaluated."""
    model = live(run).models[0] if live(run).models else None
    copies = _copies(run, model) if model is not None else []
    if model is None or not copies:
        raise NotApplicable("the script holds no copy of its model's weights")
    before = {name: value.detach().clone() for name, value in model.state_dict().items()}
    restored = sum(all(torch.equal(copy[name].cpu(), value.cpu()) for name, value in before.items()) for copy in copies)
    loss = _loss(run, again=False)
    losses = []
    for copy in copies[:4]:
        with with_weights(model, copy):
            losses.append(_loss(run, again=True))
    best = min(losses)
    return Numbers(
        copies=float(len(copies)),
        loss=loss,
        kept_loss=best,
        better=(loss - best) / (abs(loss) + 1e-12),
        restored=float(restored),
        chosen_on_report=float(restored > 0 and _chosen_on_report(run)),
    )


def _chosen_on_report(run: Run) -> bool:
    """Does the training loop read the data that is reported, while another dataset is never read?"""
    names, training = variables(run), training_loader(run)
    reported = {id(loader.dataset) for loader in evaluated(run).loaders}
    loaders = {name: value for name, value in names.items() if isinstance(value, DataLoader)}
    if training is None or not reported:
        return False
    body = parse(run.source).body
    loops = [node for node in body if isinstance(node, ast.For | ast.While) and "backward" in called(node)]
    read = {node.id for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Name)}
    chosen = {id(loader.dataset) for name, loader in loaders.items() if name in read} - {id(training.dataset)}
    unread = {id(loader.dataset) for loader in loaders.values()} - chosen - reported - {id(training.dataset)}
    return bool(chosen & reported) and bool(unread)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if a kept copy is better by more than 1 %, or was selected on the data that is reported."""
    text = "no kept copy of the weights is better than the final ones"
    suspects: tuple[Suspect, ...] = ()
    if worse(numbers):
        text = f"with a copy of the weights that the script kept, its evaluation loss is {numbers.kept_loss:.4g}"
        text += f", {share(numbers.better)} lower than with the final weights ({numbers.loss:.4g})"
        suspects = (Suspect("resume/last_instead_of_best", 0.85, text),)
    elif selected_on_report(numbers):
        text = "the final weights were selected by a loop that reads the reported data itself, "
        text += "and another held-out set is never read"
        suspects = (Suspect("metrics/epoch_chosen_on_test", 0.85, text),)
    return Verdict("kept_weights", bool(suspects), text, numbers.labeled(), suspects)
