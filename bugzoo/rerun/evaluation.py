"""The script's own evaluation once more, on the weights that the training left: what went in, what came out, what was right.

What stands at the top level behind the last training loop is run again in a copy of the script's names: assignments, loops,
`with` blocks, `model.eval()`. Where there is nothing of the kind, because all of it stands in functions, the functions that
called the model without gradients are called once more, with what they were called with. What trains is left out. Model,
random numbers and modes are as before.

In a child of `checkup` nothing outside notices it: writes land in scratch, or there were none. Anywhere else, as in a notebook,
what prints, saves or sends by its name is left out, also where a function of the script does it; what a function of another
package writes elsewhere than to the screen is written a second time.
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
"""Names of what prints, saves or sends: all that there is to go by where no overlay throws away what is written, and no child
has looked whether anything was."""

_latest: list[tuple[Any, Evaluated]] = []
"""What was found last: several instruments ask for the same run."""


def evaluated(run: Run, again: bool = False) -> Evaluated:
    """What the evaluation of `run` looked at; with `again` a second time, under other random numbers.

    It is stopped after `look.SECONDS` of processor time. Raises NotApplicable where nothing may be run again, where nothing
    behind the training loop calls the model, or where that cannot be run once more.
    """
    kept = permitted(run)
    if not again and _latest and _latest[0][0]() is kept:
        return _latest[0][1]
    if not kept.models:
        raise NotApplicable("no model was seen")
    try:
        found = look(kept.models[0], _at_top_level(run, kept), again)
    except NotApplicable as error:
        found = _by_function(run, kept, again)
        if found is None:
            raise error from None
    if not again:
        _latest[:] = [(weakref.ref(kept), found)]
    return found


def _left_out(kept: Live) -> set[str]:
    """Names of what is not called again."""
    return _TRAINS if kept.guarded else _TRAINS | _OUTWARD


def _at_top_level(run: Run, kept: Live) -> Callable[[], Any]:
    body = behind_training(run.source, _left_out(kept))
    names = dict(run.namespace or kept.namespace)
    return partial(exec, compile(body, run.file or "train.py", "exec"), names)


def _by_function(run: Run, kept: Live, again: bool) -> Evaluated | None:
    """The latest evaluation that a function of the script made and that can be made again."""
    if not run.source:
        return None
    own = _own(parse(run.source).body)
    for one in reversed(kept.evaluations):
        if one.again is None or one.name not in own or _closure(own[one.name], own) & _left_out(kept):
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


def behind_training(source: str, left_out: Set[str]) -> ast.Module:
    """The statements behind the last loop that trains, but for those that call something of these names.

    Raises NotApplicable where the text is not there, or has no such loop at its top level.
    """
    if not source:
        raise NotApplicable("needs the script's source, to run its evaluation once more")
    body = parse(source).body
    trains = [
        place for place, one in enumerate(body) if isinstance(one, ast.For | ast.While) and "backward" in called(one)
    ]
    if not trains:
        raise NotApplicable("there is no training loop at the top level of the script")
    own = _own(body)
    kept = [one for one in body[trains[-1] + 1 :] if _harmless(one, own, left_out)]
    return ast.Module(kept, [])


def _own(body: list[ast.stmt]) -> dict[str, set[str]]:
    """Function or method of the script -> names that it calls."""
    found: dict[str, set[str]] = {}
    for node in (node for one in body for node in ast.walk(one)):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = found.get(node.name, set()) | called(node)
    return found


def _harmless(statement: ast.stmt, own: dict[str, set[str]], left_out: Set[str]) -> bool:
    names = called(statement)
    if not isinstance(statement, _STATEMENTS) or _closure(names, own) & left_out:
        return False
    return not isinstance(statement, ast.Expr) or names <= _ALLOWED


def _closure(names: set[str], own: dict[str, set[str]]) -> set[str]:
    """What is called, by what of the script is called as well."""
    further, waiting = set(names), list(names & own.keys())
    while waiting:
        new = own[waiting.pop()] - further
        further |= new
        waiting += new & own.keys()
    return further
