"""Re-run the script's own evaluation on the trained weights, and record inputs, outputs and targets.

Tried in this order, until something calls the model: the statements behind the training loop of the script; the functions
that called the model without gradients, with the same arguments; the statements behind the training at any other place, in
the function that holds the loop, in one that calls it, or in the epoch loop. Statements run in a copy of their names:
assignments, loops, `with` blocks, `model.eval()`. Training code is left out. Model, RNG states, modes, the script's lists,
dicts and sets, and the attributes of an object whose method trains are restored.

In a child of `checkup` this changes nothing outside: writes go to an overlay, or the script wrote nothing. Elsewhere, as
in a notebook, calls whose names print, save or send are left out, also inside the script's functions. Files written by a
function of another package are written a second time.
"""

import ast
import copy
import weakref
from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import Any

import torch

from bugzoo.errors import NotApplicable
from bugzoo.rerun.look import Evaluated, look
from bugzoo.rerun.permit import permitted
from bugzoo.rerun.restore import same_containers
from bugzoo.running.result import Run
from bugzoo.syntax import called, callees, parse, reached
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
    names, owners = (
        run.namespace or watched.namespace,
        [vars(scope.owner) for scope in watched.scopes if scope.owner is not None],
    )
    with same_containers(names, *(scope.names for scope in watched.scopes), whole=owners):
        evaluation = _first(run, watched, again)
    if not again:
        _latest[:] = [(weakref.ref(watched), evaluation)]
    return evaluation


def _first(run: Run, kept: Live, again: bool) -> Evaluated:
    """Return the data of the first way that works. Raises NotApplicable with the reason of the first one that fails."""
    try:
        return look(kept.models[0], _at_top_level(run, kept), again)
    except NotApplicable as error:
        reason = error
    evaluation = _by_function(run, kept, again)
    if evaluation is not None:
        return evaluation
    for call in _behind_training(run, kept):
        try:
            return look(kept.models[0], call, again)
        except NotApplicable:
            continue
    raise reason


def _left_out(kept: Live) -> set[str]:
    """Return the names of functions that are not called again."""
    return _TRAINS if kept.guarded else _TRAINS | _OUTWARD


def _at_top_level(run: Run, kept: Live) -> Callable[[], Any]:
    return partial(_execute, behind_training(run.source, _left_out(kept)), run.namespace or kept.namespace, run.file)


def _execute(body: ast.Module, names: dict[str, Any], file: str) -> dict[str, Any]:
    """Run statements in a copy of these names; return the numbers that they assigned."""
    copied = dict(names)
    exec(compile(body, file or "train.py", "exec"), copied)
    new = {name: value for name, value in copied.items() if names.get(name) is not value}
    return {name: value for name, value in new.items() if isinstance(value, float | torch.Tensor)}


def _behind_training(run: Run, kept: Live) -> Iterator[Callable[[], Any]]:
    """Yield the statements behind the training at each place, those of the outermost function and loop first."""
    if not run.source:
        return
    tree = parse(run.source)
    own = callees(tree.body)
    places = [(tree.body, run.namespace or kept.namespace)]
    for scope in kept.scopes:
        name, line = scope.code.co_name, scope.code.co_firstlineno
        same = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
        node = next((n for n in same if line in (n.lineno, *(d.lineno for d in n.decorator_list))), None)
        places += [(node.body, {**scope.frame_globals, **scope.names})] if node else []
    for body, names in places:
        for statements in _levels(body, own):
            rest = [part for part in statements if _harmless(part, own, _left_out(kept)) and not _leaves(part)]
            if rest:
                yield partial(_execute, ast.Module(rest, []), names, run.file)


def _levels(body: list[ast.stmt], own: dict[str, set[str]]) -> Iterator[list[ast.stmt]]:
    """Yield the statements behind the last one that trains, then those inside of it in the same way."""
    trains = [place for place, part in enumerate(body) if _trains(part, own)]
    if trains:
        yield body[trains[-1] + 1 :]
        for block in ("body", "orelse", "finalbody"):
            yield from _levels(getattr(body[trains[-1]], block, []), own)


def _trains(part: ast.stmt, own: dict[str, set[str]]) -> bool:
    """Return whether a statement calls backward(), itself or in a function that it calls or hands on, such as a closure."""
    named = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} & own.keys()
    return not isinstance(part, ast.FunctionDef | ast.ClassDef) and "backward" in reached(called(part) | named, own)


def _leaves(statement: ast.stmt) -> bool:
    """Return whether a statement leaves the loop or function that it was taken from."""
    loops = [node for node in ast.walk(statement) if isinstance(node, ast.For | ast.While)]
    inside = {id(node) for loop in loops for node in ast.walk(loop)}
    return any(
        isinstance(node, ast.Return | ast.Yield | ast.Nonlocal)
        or (isinstance(node, ast.Break | ast.Continue) and id(node) not in inside)
        for node in ast.walk(statement)
    )


def _by_function(run: Run, kept: Live, again: bool) -> Evaluated | None:
    """Re-run the latest evaluation in a function of the script that can be called again."""
    if not run.source:
        return None
    functions = callees(parse(run.source).body)
    for evaluation in reversed(kept.evaluations):
        if evaluation.again is None or evaluation.name not in functions:
            continue
        if reached(functions[evaluation.name], functions) & _left_out(kept):
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
    functions = callees(body)
    rest = [statement for statement in body[trains[-1] + 1 :] if _harmless(statement, functions, left_out)]
    return ast.Module(rest, [])


def _harmless(statement: ast.stmt, own: dict[str, set[str]], left_out: Set[str]) -> bool:
    names = called(statement)
    if not isinstance(statement, _STATEMENTS) or reached(names, own) & left_out:
        return False
    return not isinstance(statement, ast.Expr) or names <= _ALLOWED
