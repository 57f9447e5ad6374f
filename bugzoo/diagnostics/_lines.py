"""The line of the script in which an operation happened, found at run time while a model is called once more."""

import sys
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.rerun.model import quiet, tensors
from bugzoo.running.result import Run
from bugzoo.watching.graph import through_shapes
from bugzoo.watching.loop import user_frames

_OWN = ("bugzoo/diagnostics/", "bugzoo/running/", "/_python_dispatch.py")


class Line(NamedTuple):
    """A line of the script."""

    file: str
    line: int


def user_line() -> Line | None:
    """The innermost line of the script in the stack of this call; None without one."""
    for frame in user_frames(sys._getframe(1)):
        file = frame.f_code.co_filename.replace("\\", "/")
        if any(folder in file for folder in _OWN):
            if "bugzoo/diagnostics/" in file and frame.f_code.co_name in ("call", "measure"):
                return None  # the frames above are not the script
            continue
        return Line(frame.f_code.co_filename, frame.f_lineno)
    return None


class _Softmaxes(TorchFunctionMode):
    """Records the line that called each softmax; `blamed` is the line of a softmax that feeds a log-softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[Any, Line | None] = {}
        self.blamed: Line | None = None

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name == "softmax" and isinstance(result, torch.Tensor) and result.grad_fn is not None:
            self.lines.setdefault(result.grad_fn, user_line())
        elif name in ("cross_entropy", "log_softmax", "cross_entropy_loss") and args and not self.blamed:
            self.blamed = self.of(args[0])
        return result

    def of(self, tensor: Any) -> Line | None:
        """The line of the softmax whose output `tensor` is, apart from its shape."""
        node = through_shapes(getattr(tensor, "grad_fn", None))
        return self.lines.get(node) if node is not None else None


def softmax_line(run: Run) -> Line | None:
    """The line in the model of the softmax that feeds the loss; None where it is elsewhere or unknown."""
    try:
        batch = batches(run)[-1]
        with quiet(model_of(run, batch), training=True) as model, torch.enable_grad(), _Softmaxes() as softmaxes:
            output = model(*batch.args, **batch.kwargs)
    except Exception:  # the model cannot be called again; the source is searched instead
        return None
    return softmaxes.blamed or next(filter(None, map(softmaxes.of, tensors(output))), None)
