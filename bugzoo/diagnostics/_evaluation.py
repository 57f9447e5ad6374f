"""The script's own evaluation once more, on the weights that the training left: what went in, what came out, what was right.

What stands at the top level behind the last training loop is run again in a copy of the script's names: assignments, loops,
`with` blocks, `model.eval()`. Whatever prints, saves or sends is left out, also where a function of the script does it; what a
function of another package writes elsewhere than to the screen is written a second time. Model, random numbers and modes are
as before.
"""

import ast
import contextlib
import io
import time
import warnings
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader

from bugzoo.diagnostics._source import last_name
from bugzoo.diagnostics._tools import live, main_output, quiet, tensors
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.running.result import Run
from bugzoo.syntax import parse

SECONDS = 5.0
_LOSSES = (
    F.cross_entropy,
    F.nll_loss,
    F.mse_loss,
    F.l1_loss,
    F.binary_cross_entropy_with_logits,
    F.binary_cross_entropy,
)
_CLASSIFIES = ("cross_entropy", "nll_loss")
_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.For, ast.If, ast.Expr, ast.FunctionDef)
_ALLOWED = {"eval", "train", "manual_seed", "seed"}
_OUTWARD = {
    "save", "dump", "write", "open", "savefig", "show", "to_csv", "save_model", "save_pretrained", "push_to_hub", "mkdir",
    "makedirs", "remove", "unlink", "rename", "system", "run", "post", "finish", "init", "exit", "step", "backward",
    "add_scalar", "write_text", "write_bytes", "export",
}  # fmt: skip


@dataclass
class Evaluated:
    """`pairs`: (answers, targets) of each call of a loss; `inputs`: of each call of the model; `loaders` that were read."""

    inputs: list[torch.Tensor] = field(default_factory=list)
    outputs: list[torch.Tensor] = field(default_factory=list)
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    loaders: list[Any] = field(default_factory=list)
    kind: str = ""
    """The loss: cross_entropy, mse_loss, ..."""
    ignored: int = -100
    """The class number that the loss leaves out; `pairs` are without it."""

    @property
    def classifies(self) -> bool:
        """Answers are scores of classes in the last axis, targets their numbers."""
        return self.kind in _CLASSIFIES and all(not y.is_floating_point() for _, y in self.pairs)

    def accuracy(self) -> float:
        """Share of all targets that are the largest answer of their row."""
        right = sum(float((x.argmax(-1) == y).sum()) for x, y in self.pairs)
        return right / max(1, sum(y.numel() for _, y in self.pairs))

    def loss(self) -> float:
        """Mean over all targets, whatever the batches they came in (nats, or squared units)."""
        function = getattr(F, self.kind)
        summed = sum(float(function(x.float(), y, reduction="sum")) for x, y in self.pairs)
        return summed / max(1, sum(y.numel() for _, y in self.pairs))


class _TooLong(BaseException):
    """The evaluation takes more than its seconds."""


class _Losses(TorchFunctionMode):
    """Notes what every loss is called with."""

    def __init__(self, found: Evaluated) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function in _LOSSES:
            given = [*args, *(kwargs[name] for name in ("input", "target") if name in kwargs)]
            if len(given) > 1 and all(isinstance(one, torch.Tensor) for one in given[:2]):
                self.found.kind = function.__name__
                self.found.pairs.append(
                    _counted(given[0].detach(), given[1].detach(), kwargs.get("ignore_index", -100))
                )
        return function(*args, **kwargs)


def _counted(answers: torch.Tensor, targets: torch.Tensor, ignored: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Those rows whose target the loss does not leave out."""
    if targets.is_floating_point() or answers.ndim != targets.ndim + 1 or not (targets == ignored).any():
        return answers, targets
    kept = targets != ignored
    return answers.movedim(1, -1)[kept], targets[kept]


def evaluated(run: Run, again: bool = False) -> Evaluated:
    """What the evaluation of `run` looked at; with `again` a second time, under other random numbers.

    Raises NotApplicable where nothing behind the training loop calls the model, or it cannot be run once more.
    """
    kept = live(run)
    if not again and _latest and _latest[0][0]() is kept:
        return _latest[0][1]
    if not kept.models:
        raise NotApplicable("no model was seen")
    body = behind_training(run.source)
    model = kept.models[0]
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        raise NotApplicable("the processes that the model was shared among are gone")
    found = Evaluated()
    names = dict(run.namespace or kept.namespace)
    until = time.monotonic() + SECONDS

    def called(_: Any, args: Any, output: Any) -> None:
        if time.monotonic() > until:
            raise _TooLong
        if inputs := tensors(args):
            found.inputs.append(inputs[0].detach().clone())
            found.outputs.append(main_output(output).detach())

    hook = model.register_forward_hook(called)
    try:
        with quiet(model), _reading(found), _silent(), _Losses(found):
            if again:
                torch.manual_seed(1)
            exec(compile(body, run.file or "train.py", "exec"), names)
    except _TooLong:
        pass
    except (Exception, SystemExit) as error:
        raise NotApplicable(f"its evaluation cannot be run once more ({type(error).__name__}: {error})"[:200]) from None
    finally:
        hook.remove()
    if not found.inputs:
        raise NotApplicable("nothing behind the training loop calls the model")
    if not again:
        _latest[:] = [(weakref.ref(kept), found)]
    return found


_latest: list[tuple[Any, Evaluated]] = []
"""What was found last: several instruments ask for the same run."""


@contextlib.contextmanager
def _reading(found: Evaluated) -> Iterator[None]:
    """Note every DataLoader that is read."""
    original = DataLoader.__iter__

    def read(loader: Any) -> Any:
        found.loaders.append(loader)
        return original(loader)

    DataLoader.__iter__ = read  # type: ignore[method-assign]
    try:
        yield
    finally:
        DataLoader.__iter__ = original  # type: ignore[method-assign]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


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
    further, waiting = set(called), list(called & own.keys())
    while waiting:
        new = own[waiting.pop()] - further
        further |= new
        waiting += new & own.keys()
    if not isinstance(statement, _STATEMENTS) or further & _OUTWARD:
        return False
    return not isinstance(statement, ast.Expr) or called <= _ALLOWED


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
