"""The script's own evaluation once more, on the weights that the training left: what went in, what came out, what was right.

What stands at the top level behind the last training loop is run again in a copy of the script's names: assignments, loops,
`with` blocks, `model.eval()`. Where there is nothing of the kind, because all of it stands in functions, the functions that
called the model without gradients are called once more, with what they were called with. Whatever prints, saves or sends is
left out, also where a function of the script does it; what a function of another package writes elsewhere than to the screen
is written a second time. Model, random numbers and modes are as before.
"""

import ast
import copy
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils.data import DataLoader

from bugzoo.diagnostics._look import Evaluated, look
from bugzoo.diagnostics._source import last_name
from bugzoo.diagnostics._tools import live
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.syntax import parse

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.For, ast.If, ast.Expr, ast.FunctionDef)
_ALLOWED = {"eval", "train", "manual_seed", "seed"}
_OUTWARD = {
    "save", "dump", "write", "open", "savefig", "show", "to_csv", "save_model", "save_pretrained", "push_to_hub", "mkdir",
    "makedirs", "remove", "unlink", "rename", "system", "run", "post", "finish", "init", "exit", "step", "backward",
    "add_scalar", "write_text", "write_bytes", "export",
}  # fmt: skip

_latest: list[tuple[Any, Evaluated]] = []
"""What was found last: several instruments ask for the same run."""


def evaluated(run: Run, again: bool = False) -> Evaluated:
    """What the evaluation of `run` looked at; with `again` a second time, under other random numbers.

    Raises NotApplicable where nothing behind the training loop calls the model, or it cannot be run once more.
    """
    kept = live(run)
    if run.no_rerun:
        raise NotApplicable(run.no_rerun)
    if not again and _latest and _latest[0][0]() is kept:
        return _latest[0][1]
    if not kept.models:
        raise NotApplicable("no model was seen")
    try:
        found = look(kept.models[0], _at_top_level(run), again)
    except NotApplicable as error:
        found = _by_function(run, again)
        if found is None:
            raise error from None
    if not again:
        _latest[:] = [(weakref.ref(kept), found)]
    return found


def _at_top_level(run: Run) -> Callable[[], Any]:
    body = behind_training(run.source)
    names = dict(run.namespace or live(run).namespace)
    return partial(exec, compile(body, run.file or "train.py", "exec"), names)


def _by_function(run: Run, again: bool) -> Evaluated | None:
    """The latest evaluation that a function of the script made and that can be made again."""
    if not run.source:
        return None
    own = _own(parse(run.source).body)
    for one in reversed(live(run).evaluations):
        if one.again is None or one.name not in own or _closure(own[one.name], own) & _OUTWARD:
            continue
        call = one.again  # a list that it adds to, such as a history, stays as it is
        call = partial(
            call.func, *map(_copied, call.args), **{name: _copied(value) for name, value in call.keywords.items()}
        )
        try:
            return look(one.module, call, again)
        except NotApplicable:
            continue
    return None


def _copied(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, list | dict | set) else value


def behind_training(source: str) -> ast.Module:
    """The statements behind the last loop that trains, without those that reach out of the script.

    Raises NotApplicable where the text is not there, or has no such loop at its top level.
    """
    if not source:
        raise NotApplicable("needs the script's source, to run its evaluation once more")
    body = parse(source).body
    trains = [
        place for place, one in enumerate(body) if isinstance(one, ast.For | ast.While) and "backward" in _calls(one)
    ]
    if not trains:
        raise NotApplicable("there is no training loop at the top level of the script")
    own = _own(body)
    kept = [one for one in body[trains[-1] + 1 :] if _harmless(one, own)]
    return ast.Module(kept, [])


def training_loader(run: Run) -> Any:
    """The DataLoader that the training loop reads, None where it reads something else."""
    names = run.namespace or live(run).namespace
    for loop in ast.walk(parse(run.source)):
        if isinstance(loop, ast.For) and "backward" in _calls(loop):
            for node in ast.walk(loop.iter):
                if isinstance(node, ast.Name) and isinstance(names.get(node.id), DataLoader):
                    return names[node.id]
    return None


def _calls(node: ast.AST) -> set[str]:
    return {last_name(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}


def _own(body: list[ast.stmt]) -> dict[str, set[str]]:
    """Function or method of the script -> names that it calls."""
    found: dict[str, set[str]] = {}
    for node in (node for one in body for node in ast.walk(one)):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = found.get(node.name, set()) | _calls(node)
    return found


def _harmless(statement: ast.stmt, own: dict[str, set[str]]) -> bool:
    called = _calls(statement)
    if not isinstance(statement, _STATEMENTS) or _closure(called, own) & _OUTWARD:
        return False
    return not isinstance(statement, ast.Expr) or called <= _ALLOWED


def _closure(called: set[str], own: dict[str, set[str]]) -> set[str]:
    """What is called, by what of the script is called as well."""
    further, waiting = set(called), list(called & own.keys())
    while waiting:
        new = own[waiting.pop()] - further
        further |= new
        waiting += new & own.keys()
    return further


def rows(dataset: Any, most: int = 4000) -> tuple[list[bytes], list[float]]:
    """(input of each sample as bytes, its label) of a map-style dataset; padding at the end of tokens does not count.

    Raises NotApplicable for a dataset that gives no pairs of tensors.
    """
    inputs, labels = [], []
    try:
        for index in range(min(len(dataset), most)):
            sample = dataset[index]
            x, y = sample[0], sample[1]
            array = torch.as_tensor(x).detach().cpu().contiguous().numpy()
            inputs.append(array.tobytes() if array.dtype.kind == "f" else array.tobytes().rstrip(b"\0"))
            labels.append(float(y))
    except Exception as error:
        raise NotApplicable(f"its data set does not give pairs of numbers ({type(error).__name__})") from None
    return inputs, labels
