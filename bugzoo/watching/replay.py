"""One step of a watched run once more, under anomaly mode and with probes in place; then everything is put back.

The loop's body is compiled again from its source, with its own file name and line numbers, and run from a snapshot in
the loop's own namespace. Parameters, optimiser state, random states, containers and names are as before afterwards.
"""

import ast
import contextlib
import copy
import io
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from bugzoo.errors import UserError
from bugzoo.syntax import parse
from bugzoo.watching.history import History, Iteration, Snapshot
from bugzoo.watching.hooks import Hooks
from bugzoo.watching.loop import Loop, is_fetch, last_line, stored_names
from bugzoo.watching.models import Models
from bugzoo.watching.moment import Moment
from bugzoo.watching.probe import Probe
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.state import Frozen, State, copied, set_rng
from bugzoo.watching.trace import Trace


@dataclass
class Replay:
    """What one replayed step showed.

    `faithful`: the replayed loss equals the recorded one to the last bit. `first`: the first operation whose result was
    not finite: {"module", "op", "direction", "file", "line", "code"}, None when all of them were finite.
    """

    step: int
    loss: float
    grad_norm: float
    faithful: bool
    first: dict[str, Any] | None = field(default=None)
    message: str = ""


@dataclass(frozen=True)
class Past:
    """What is kept of a run that is over, so that a step of it can be run again; the recorder is gone."""

    models: Models
    moment: Moment
    history: History | None
    """None where no snapshots were taken."""


class _Reached(BaseException):
    """The step that was asked for has been made."""


class _Rerun(Recorder):
    """A recorder for the second time: it gives the random numbers back and lets the probe look at backward passes."""

    def __init__(self, goal: int, start: int) -> None:
        super().__init__(Trace(), self._after, graph=False, snapshots=False)
        self.goal, self.moment.step = goal, start
        self.loop.give_up()
        self.iteration: Iteration | None = None
        self.given: tuple[Any, ...] | None = None
        self.probe: Probe | None = None
        self.info: dict[str, Any] = {}

    def training_forward(self, module: nn.Module, args: tuple[Any, ...]) -> Any:
        super().training_forward(module, args)
        given, self.given = self.given, None
        if self.iteration is not None:
            set_rng(self.iteration.rng)
            self.iteration = None
        return given

    def before_backward(self, root: Any) -> None:
        super().before_backward(root)
        if self.probe is not None and self.moment.step == self.goal:
            self.probe.before_backward(root)

    def _after(self, info: dict[str, Any]) -> None:
        if info["step"] >= self.goal:
            self.info = info
            raise _Reached


def _body(loop: Loop, line: int | None, names: dict[str, Any] | None, converting: bool = False) -> CodeType:
    """The loop's body as code, from the statement at `line` on; inside a function of `names` where names are given.

    `converting`: with what it makes of a batch before the model gets it.
    """
    skipped = set() if converting else set(loop.fetched if line is not None else loop.names)

    class Skip(ast.NodeTransformer):
        """Leave out what would fetch or convert the batch again: it is given."""

        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            if is_fetch(node) or (line is None and stored_names(node) & skipped):
                return ast.copy_location(ast.Pass(), node)
            return node

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            return node

        def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

    body = loop.node.body
    if line is not None:
        body = [part for part in body if last_line(part) >= line]
    body = [Skip().visit(copy.deepcopy(part)) for part in body]
    once: Any = parse("for __bugzoo in (None,):\n    pass").body[0]
    once.body = body
    tree: ast.Module = ast.Module([once], type_ignores=[])
    if names is not None:
        declared = {name for n in ast.walk(once) if isinstance(n, ast.Global) for name in n.names}
        given = [name for name in names if name.isidentifier() and name not in declared | {"__class__"}]
        outer: Any = parse(f"def __bugzoo_body({', '.join(given)}):\n    return locals()").body[0]
        outer.body.insert(0, once)
        tree = ast.Module([outer], type_ignores=[])
    return compile(ast.fix_missing_locations(tree), loop.file, "exec")


def prepared(
    snapshot: Snapshot, names: dict[str, Any], line: int | None, converting: bool = False
) -> Callable[[dict[str, Any]], None]:
    """What runs one iteration, changing its argument as the loop would change its names; it begins with `names`."""
    if snapshot.top_level:
        code = _body(snapshot.loop, line, None, converting)
        return lambda names: exec(code, names)
    made: dict[str, Any] = {}
    exec(_body(snapshot.loop, line, names, converting), snapshot.frame_globals, made)
    function = made["__bugzoo_body"]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]

    def run(names: dict[str, Any]) -> None:
        after = function(*(names[name] for name in wanted))
        if isinstance(after, dict) and "__bugzoo" in after:
            names.update(after)

    return run


def execute(
    past: Past, snapshot: Snapshot, iterations: list[Iteration], step: int, from_start: bool = False
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Run `iterations` from `snapshot` until optimiser step `step` is made: ({"loss", "grad_norm"}, first finding).

    `from_start`: the first statement draws its batch itself, from the random state that the step before left.
    """
    names = snapshot.frame_globals if snapshot.top_level else dict(snapshot.namespace)
    state = State(past.models.ordered(), past.moment.optimizers, {**snapshot.namespace, **names}, True, snapshot.state)
    frozen = Frozen(state, names, snapshot.frame_globals)
    rerun = _Rerun(step, snapshot.iteration.step)
    hooks = Hooks(rerun)
    probe = Probe(past.models.names())
    quiet = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.callback(frozen.restore)
        stack.callback(rerun.waits.close)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stdout(quiet))
        stack.enter_context(contextlib.redirect_stderr(quiet))
        stack.enter_context(torch.enable_grad())
        snapshot.state.restore()
        names.update(snapshot.namespace)
        hooks.install()
        stack.callback(hooks.remove)
        try:
            for number, iteration in enumerate(iterations):
                at = iteration.line if number == 0 else None
                if number and iteration.between is not None and iteration.between.put_back(names):
                    at, rerun.given = iteration.line, given(iteration.between.args)
                    set_rng(iteration.rng)
                names.update(copied(iteration.values))
                rerun.iteration = iteration
                if number == 0 and from_start and iteration.start is not None:
                    set_rng(iteration.start)
                elif number == 0:
                    set_rng(iteration.rng)
                    rerun.given = given(snapshot.args)
                if iteration.step == step or number == len(iterations) - 1:
                    rerun.probe = probe
                    with torch.autograd.detect_anomaly(check_nan=False), probe:
                        prepared(snapshot, names, at)(names)
                else:
                    prepared(snapshot, names, at)(names)
        except _Reached:
            pass
        except Exception as error:
            rerun.info.setdefault("error", f"{type(error).__name__}: {error}")
    return rerun.info, probe.result()


def given(args: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Copies of a forward's arguments; None where the script differentiates with respect to one of them."""
    if args is None or any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in tree_leaves(args)):
        return None
    return copied(args)


def same(one: float, other: float) -> bool:
    """Equal to the last bit, NaN being equal to NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))


def starts(iterations: list[Iteration]) -> tuple[bool, ...]:
    """Which random states to begin with, one after the other: that of the step's start, that of its forward."""
    return (True, False) if iterations[0].start is not None else (False,)


def _recorded(trace: Trace, step: int) -> float:
    return float(trace.loss[step - 1])


def replay(past: Past, trace: Trace, step: int) -> Replay:
    """See Trace.replay; `trace` is what was recorded of the run."""
    if not 1 <= step <= len(trace.step):
        raise UserError(f"There is no step {step}: the run made steps 1 to {len(trace.step)}.")
    history = past.history
    if history is None:
        raise UserError("This run was watched with snapshots=False; watch(snapshots=True) keeps what a replay needs.")
    if past.models.several_ranks():
        raise UserError("A step of several ranks cannot be replayed by one of them: run the script on one rank.")
    pinned = history.pinned
    plan = history.plan(step)
    if pinned is not None and pinned.iteration.step == step:
        plan = (pinned, [pinned.iteration])
    if plan is None:
        reach = history.reach()
        if reach is None and past.moment.loop.loop is None:
            raise UserError(
                "No loop was found around loss.backward() and optimizer.step(), so no step can be run again."
            )
        within = f"Steps {reach[0]} to {reach[1]} are within reach." if reach else "No step is within reach."
        raise UserError(f"Step {step} is out of reach: only the latest snapshots are kept. {within}")
    snapshot, iterations = plan
    for iteration in iterations:
        if iteration.overwritten():
            raise UserError(
                f"The batch of step {iteration.step} was overwritten in place after its step, so step {step} cannot be "
                "run again; give each step a tensor of its own to make it replayable."
            )
    info: dict[str, Any] = {}
    first, loss, norm, faithful = None, math.nan, math.nan, False
    for from_start in starts(iterations):
        info, first = execute(past, snapshot, iterations, step, from_start)
        loss, norm = info.get("loss", math.nan), info.get("grad_norm", math.nan)
        faithful = "step" in info and same(loss, _recorded(trace, step))
        if faithful:
            break
    return Replay(step, loss, norm, faithful, first, _message(trace, step, info, faithful, first))


def _message(trace: Trace, step: int, info: dict[str, Any], faithful: bool, first: dict[str, Any] | None) -> str:
    if "error" in info:
        return f"Step {step} stopped with {info['error']} when it was run again."
    if "step" not in info:
        return f"Step {step} was not reached when the loop's body was run again."
    text = f"Step {step}: loss {info['loss']:.6g}, gradient norm {info['grad_norm']:.6g}, "
    text += "as recorded. " if faithful else f"but {_recorded(trace, step):.6g} was recorded: not the same step. "
    if first is None:
        return text + "Every operation's result was finite."
    where = f" ({first['file']}:{first['line']}: {first['code']})" if first.get("file") else ""
    return (
        text + f"The first result that is not finite: {first['op']}, {first['direction']}, in {first['module']}{where}."
    )
