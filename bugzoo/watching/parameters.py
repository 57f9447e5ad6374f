"""Record every parameter: its name, its parameter group, its norm at sampled steps, and how far it moved."""

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin  # pyright: ignore[reportAttributeAccessIssue]

from bugzoo.watching.memory import out_of_memory
from bugzoo.watching.records import Parameter


class Parameters:
    """The columns of the per-parameter arrays, in order of each parameter's first use."""

    def __init__(self) -> None:
        self._column: dict[int, int] = {}
        self._held: list[nn.Parameter] = []
        self._names: list[str | None] = []
        self._groups: list[int | None] = []
        self._start: list[torch.Tensor] = []
        self._sampled: list[tuple[int, torch.Tensor, torch.Tensor]] = []
        self._later: list[tuple[nn.Module, str]] = []

    def __len__(self) -> int:
        return len(self._held)

    @property
    def held(self) -> list[nn.Parameter]:
        """All parameters, in the order of their columns."""
        return self._held

    def __contains__(self, parameter: nn.Parameter) -> bool:
        return id(parameter) in self._column

    def _add(self, parameter: nn.Parameter, name: str | None) -> int:
        column = self._column.get(id(parameter))
        if column is None:
            column = self._column[id(parameter)] = len(self._held)
            self._held.append(parameter)
            self._names.append(name)
            self._groups.append(None)
            self._start.append(parameter.detach().clone())
        elif name and self._names[column] is None:
            self._names[column] = name
        return column

    def add_model(self, model: nn.Module, prefix: str = "") -> None:
        """Add a model's parameters. `functional_call` exchanges them while the model runs; then `complete` does it."""
        for name, parameter in model.named_parameters():
            if not isinstance(parameter, nn.Parameter):
                self._later.append((model, prefix))
                return
            if not isinstance(parameter, UninitializedTensorMixin):
                self._add(parameter, prefix + name)

    def complete(self) -> None:
        """Add the parameters of models that were called with other ones in their place."""
        later, self._later = self._later, []
        for model, prefix in later:
            self.add_model(model, prefix)

    def add_optimizer(self, optimizer: torch.optim.Optimizer, index: int) -> None:
        for number, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                self._groups[self._add(parameter, None)] = number

    def name(self, parameter: nn.Parameter) -> str | None:
        column = self._column.get(id(parameter))
        return None if column is None else self._names[column]

    def bytes(self) -> int:
        """Return the size of all parameters in bytes."""
        return sum(p.numel() * p.element_size() for p in self._held)

    def columns(self, parameters: list[nn.Parameter]) -> list[int]:
        return [self._add(parameter, None) for parameter in parameters]

    @torch.no_grad()
    def take_norms(self, step: int) -> None:
        """Record the norms of all parameters and the share of exact zeros in each gradient.

        They stay on the first parameter's device until `norms()`: to read them now would wait for a GPU.
        """
        if not self._held:
            return
        place = self._held[0].device
        norms = [p.detach().float().norm().to(place) for p in self._held]
        zeros = [_zeros(p.grad).to(place) for p in self._held]
        self._sampled.append((step, torch.stack(norms), torch.stack(zeros)))

    @torch.no_grad()
    def take_again(self, step: int, parameters: list[nn.Parameter]) -> None:
        """Renew some of the numbers of `take_norms`: these parameters have changed in the same step, but later."""
        if not self._sampled or self._sampled[-1][0] != step:
            return
        _, norms, zeros = self._sampled[-1]
        missing = len(self) - len(norms)
        if missing:
            norms, zeros = (torch.cat([row, row.new_full((missing,), float("nan"))]) for row in (norms, zeros))
        for parameter in parameters:
            column = self._add(parameter, None)
            norms[column], zeros[column] = parameter.detach().float().norm(), _zeros(parameter.grad)
        self._sampled[-1] = step, norms, zeros

    def norms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (K,) steps, (K, P) norms, (K, P) shares of zeros."""
        count, width = len(self._sampled), len(self)
        norms, zeros = np.full((count, width), np.nan), np.full((count, width), np.nan)
        for row, (_, some, shares) in enumerate(self._sampled):
            if not some.is_meta:
                norms[row, : len(some)] = some.cpu()
                zeros[row, : len(shares)] = shares.cpu()
        return np.asarray([float(step) for step, _, _ in self._sampled]), norms, zeros

    @torch.no_grad()
    def describe(self) -> list[Parameter]:
        parameters = []
        for column, parameter in enumerate(self._held):
            changed = _change(self._start[column], parameter.detach())
            parameters.append(
                Parameter(
                    name=self._names[column] or f"parameter {column}",
                    shape=tuple(parameter.shape),
                    trainable=parameter.requires_grad,
                    dtype=str(parameter.dtype).removeprefix("torch."),
                    device=str(parameter.device),
                    group=self._groups[column],
                    changed=changed,
                )
            )
        return parameters


def _zeros(gradient: torch.Tensor | None) -> torch.Tensor:
    """Return the share of exact zeros as a 0-dim float64 tensor, NaN where it cannot be counted."""
    if gradient is None or gradient.is_sparse or not gradient.numel():
        return torch.tensor(float("nan"), dtype=torch.float64)
    return 1 - torch.count_nonzero(gradient).double() / gradient.numel()


def _change(start: torch.Tensor, now: torch.Tensor) -> float:
    """Return |now - start| / |start|. It is 0 on device 'meta', where tensors have no values, and NaN out of memory."""
    if start.is_meta or now.is_meta:
        return 0.0
    same = start.shape == now.shape
    try:
        start, now = start.to(now.device).double(), now.double()  # a model may change its device while it is watched
        size = start.norm().item() if same else 0.0
        moved = (now - start).norm().item() if same else float("nan")
    except RuntimeError as error:  # the script's own error shows where memory ran out
        if out_of_memory(error):
            return float("nan")
        raise
    return moved / size if size else (0.0 if moved == 0 else float("inf"))
