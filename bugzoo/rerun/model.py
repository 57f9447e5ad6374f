"""Call a model again: alone, in train or eval mode, on copies of its arguments."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from bugzoo.errors import NotApplicable
from bugzoo.rerun.restore import unchanged
from bugzoo.running.result import Run
from bugzoo.watching.live import Live


def live(run: Run) -> Live:
    """Return the run's live objects. Raises NotApplicable if the trace came from a file or another process."""
    objects = run.trace.live
    if objects is None:
        raise NotApplicable("needs the live model; this trace has numbers only")
    return objects


def variables(run: Run) -> dict[str, Any]:
    """Return name -> value: the script's variables, those of its functions around the training loop, and the attributes of
    the objects whose methods these are.

    An inner variable hides an outer one of its name, which is then called as in "outside fit.x".
    """
    objects = live(run)
    names = dict(run.namespace or objects.namespace)
    for scope in objects.scopes:
        hidden = {name: names[name] for name, value in scope.names.items() if names.get(name, value) is not value}
        names |= scope.names | {f"outside {scope.code.co_name}.{name}": value for name, value in hidden.items()}
    for scope in objects.scopes:
        public = (
            {name: value for name, value in vars(scope.owner).items() if name[0] != "_"}
            if scope.owner is not None
            else {}
        )
        names = public | names
    return names


@contextmanager
def quiet(model: torch.nn.Module, training: bool = False) -> Iterator[torch.nn.Module]:
    """Yield `model` in the given mode without autograd. Modes, buffers and RNG states are restored afterwards.

    On CUDA, an embedding raises the IndexError that it raises on the CPU. A kernel's own assert would end the process's use of
    the device.
    """
    with ExitStack() as guards, unchanged(model), torch.no_grad():
        for module in model.modules():
            module.training = training
            if isinstance(module, torch.nn.Embedding) and module.weight.is_cuda:
                guards.enter_context(module.register_forward_pre_hook(check_indices))
        yield model


def check_indices(table: torch.nn.Embedding, args: tuple[Any, ...]) -> None:
    """Raise IndexError, in torch's words, for an index that the table does not have."""
    indices = args[0] if args else None
    if isinstance(indices, torch.Tensor) and indices.numel():
        low, high = indices.aminmax()
        if low < 0 or high >= table.num_embeddings:
            raise IndexError("index out of range in self")


def call(model: torch.nn.Module, args: Any, kwargs: Any) -> torch.Tensor:
    """Return the main output (batch, ...), in float32, of one call with copies of the arguments.

    It sets torch's seed to 0, so call it within `quiet`. Raises NotApplicable if the output has no floating tensor, and
    any exception of the model.
    """
    args, kwargs = tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, (args, kwargs))
    torch.manual_seed(0)
    return main_output(model(*args, **kwargs)).float()


def tensors(tree: Any) -> list[torch.Tensor]:
    """Return all tensors in nested arguments or outputs, in order, including fields of output objects."""
    leaves = tree_flatten(tree)[0]
    flat = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            flat.append(leaf)
        elif hasattr(leaf, "__dataclass_fields__"):
            flat += [value for value in vars(leaf).values() if isinstance(value, torch.Tensor)]
    return flat


def main_output(tree: Any) -> torch.Tensor:
    """Return the output that the loss most likely uses: `.logits`, else the first floating tensor that is not a scalar.

    Raises NotApplicable if there is no such tensor.
    """
    logits = tree.get("logits") if isinstance(tree, dict) else getattr(tree, "logits", None)
    if isinstance(logits, torch.Tensor):
        return logits
    for tensor in tensors(tree):
        if tensor.is_floating_point() and tensor.ndim >= 1:
            return tensor
    raise NotApplicable("the model's output has no floating-point tensor to compare")
