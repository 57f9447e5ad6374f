"""Re-run the script's own evaluation on the trained weights, and record inputs, outputs and targets.

Top-level statements after the last training loop run again in a copy of the script's names: assignments, loops, `with`
blocks, `model.eval()`. If they do not evaluate, because the code is in functions, the functions that called the model
without gradients are called again with the same arguments. Training code is left out. Model, RNG states, modes and the
script's lists, dicts and sets are restored.

In a child of `checkup` this changes nothing outside: writes go to an overlay, or the script wrote nothing. Elsewhere, as
in a notebook, calls whose names print, save or send are left out, also inside the script's functions. Files written by a
function of another package are written a second time.
"""

import ast
import copy
import weakref
from collections.abc import Callable, Set
from functools import partial
from typing import Any

from bugzoo.errors import NotApplicable
from bugzoo.rerun.look import Evaluated, look
from bugzoo.rerun.permit import permitted
from bugzoo.rerun.restore import same_containers
from bugzoo.running.result import Run
from bugzoo.syntax import called, parse
from bugzoo.watching.live import Live

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.For, ast.If, ast.Expr, ast.FunctionDef)
_ALLOWED = {"eval", "train", "manual_seed", "seed"}
_TRAINS = {"step", "backward"}
_OUTWARD = {
    "save", "dump", "write", "open", "savefig", "show", "to_csv", "save_model", "save_pretrained", "push_to_hub", "mkdir",
    "makedirs", "remove", "unlink", "rename", "system", "run", "post", "finish", "init", "exit", "add_scalar", "write_text",
    "write_bytes", "export",
}  # fmt: skip
"""Names of functions that print, save or send. Only these names help if there is no overlay, and no child process that
checks for writes."""

_latest: list[tuple[Any, Evaluated]] = []
"""The last result, because several instruments need the same run."""


def evaluated(run: Run, again: bool = False) -> Evaluated:
    """Return the data of the evaluation of `run`. With `again`, evaluate a second time with other random numbers.

    It is stopped after `look.SECONDS` of processor time. Raises NotApplicable if nothing may be re-run, if no code after
    the training loop calls the model, or if that code fails.
    """
    watched = permitted(run)
    if not again and _latest and _latest[0][0]() is watched:
        return _latest[0][1]
    if not watched.models:
        raise NotApplicable("no model was seen")
    with same_containers(run.namespace or watched.namespace):
        try:
            evaluation = look(watched.models[0], _at_top_level(run, watched), again)
        except NotApplicable as error:
            evaluation = _by_function(run, watched, again)
            if evaluation is None:
                raise error from None
    if not again:
        _latest[:] = [(weakref.ref(watched), evaluation)]
    return evaluation


def _left_out(kept: Live) -> set[str]:
    """Return the names of functions that are not called again."""
    return _TRAINS if kept.guarded else _TRAINS | _OUTWARD


def _at_top_level(run: Run, kept: Live) -> Callable[[], Any]:
    body = behind_training(run.source, _left_out(kept))
    names = dict(run.namespace or kept.namespace)
    return partial(exec, compile(body, run.file or "train.py", "exec"), names)


def _by_function(run: Run, kept: Live, again: bool) -> Evaluated | None:
    """Re-run the latest evaluation in a function of the script that can be called again."""
    if not run.source:
        return None
    functions = _own(parse(run.source).body)
    for evaluation in reversed(kept.evaluations):
        if evaluation.again is None or evaluation.name not in functions:
            continue
        if _closure(functions[evaluation.name], functions) & _left_out(kept):
            continue
        call = evaluation.again  # arguments are copied, so that a list such as a history stays unchanged
        keywords = {name: _copied(value) for name, value in call.keywords.items()}
        call = partial(call.func, *map(_copied, call.args), **keywords)
        try:
            return look(evaluation.module, call, again)
        except NotApplicable:
            continue
    return None


def _copied(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, list | dict | set) else value


def behind_training(source: str, left_out: Set[str]) -> ast.Module:
    """Return the statements after the last training loop, without those that call a function in `left_out`.

    Raises NotApplicable without a source, or without a training loop at its top level.
    """
    if not source:
        raise NotApplicable("needs the script's source to run its evaluation again")
    body = parse(source).body
    loops = ((place, node) for place, node in enumerate(body) if isinstance(node, ast.For | ast.While))
    trains = [place for place, node in loops if "backward" in called(node)]
    if not trains:
        raise NotApplicable("there is no training loop at the top level of the script")
    functions = _own(body)
    rest = [statement for statement in body[trains[-1] + 1 :] if _harmless(statement, functions, left_out)]
    return ast.Module(rest, [])


def _own(body: list[ast.stmt]) -> dict[str, set[str]]:
    """Return function or method of the script -> names that it calls."""
    functions: dict[str, set[str]] = {}
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = functions.get(node.name, set()) | called(node)
    return functions


def _harmless(statement: ast.stmt, own: dict[str, set[str]], left_out: Set[str]) -> bool:
    names = called(statement)
    if not isinstance(statement, _STATEMENTS) or _closure(names, own) & left_out:
        return False
    return not isinstance(statement, ast.Expr) or names <= _ALLOWED


def _closure(names: set[str], own: dict[str, set[str]]) -> set[str]:
    """Return all called names, including calls inside the script's own functions."""
    further, waiting = set(names), list(names & own.keys())
    while waiting:
        new = own[waiting.pop()] - further
        further |= new
        waiting += new & own.keys()
    return further
