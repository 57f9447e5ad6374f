"""The loop that `tests.benchmarks.watch_overhead` times, and the other ways of watching it by hand."""

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Net(nn.Module):
    """The network of `bugzoo/programs/mlp.py`; asked for `broken`, a logarithm of 0 behind its second layer."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.layer1 = nn.Linear(64, hidden_size)
        self.layer2 = nn.Linear(hidden_size, hidden_size)
        self.head = nn.Linear(hidden_size, 10)

    def forward(self, inputs, broken=False):
        hidden = F.relu(self.layer1(inputs))
        hidden = self.layer2(hidden)
        if broken:
            hidden = torch.log(hidden - hidden.min())
        hidden = F.relu(hidden)
        return self.head(hidden)


def train(
    model: nn.Module,
    loader: DataLoader,
    device: str,
    epochs: int,
    each: Callable[..., None] | None = None,
    break_at: int = -1,
) -> int:
    """The program's loop. `each` is what a user would write into it to watch by hand. Returns the number of steps."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    losses = []
    for _ in range(epochs):
        model.train()
        for inputs, targets in loader:
            inputs, targets = inputs.to(device), targets.to(device)
            optimizer.zero_grad()
            logits = model(inputs, step == break_at)
            loss = F.cross_entropy(logits, targets)
            loss.backward()
            if each is not None:
                each(step, model, loss)
            optimizer.step()
            step += 1
            losses.append(loss.item())
    return step


@contextmanager
def nan_hooks(model: nn.Module) -> Iterator[None]:
    """A NaN check after every layer, forward and backward."""

    def look(module: nn.Module, inputs: Any, output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        for tensor in outputs:
            if tensor is not None and not torch.isfinite(tensor).all():
                raise RuntimeError(f"not finite: {type(module).__name__}")

    handles = [m.register_forward_hook(look) for m in model.modules()]
    handles += [m.register_full_backward_hook(look) for m in model.modules()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first layer's inputs need no gradient: nothing to look at there
        yield
    for handle in handles:
        handle.remove()


@contextmanager
def anomaly() -> Iterator[None]:
    """torch's own anomaly mode over the whole run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            yield


@contextmanager
def tensorboard() -> Iterator[Callable[..., None]]:
    """Gives what writes loss and per-layer gradient norms to TensorBoard, every step."""
    from torch.utils.tensorboard import SummaryWriter

    def each(step: int, model: nn.Module, loss: torch.Tensor) -> None:
        writer.add_scalar("loss", loss.item(), step)
        for name, parameter in model.named_parameters():
            writer.add_scalar(f"norm/{name}", parameter.grad.norm().item(), step)

    with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        yield each
