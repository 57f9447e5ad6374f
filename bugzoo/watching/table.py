"""The rows of a growing trace: cheap to append to, converted to arrays later."""

import math
from typing import Any

import numpy as np
import torch

COLUMNS = (
    "step", "loss", "grad_norm", "update_ratio", "learning_rate", "scale", "leftover", "backwards", "optimizer",
    "data_ms", "forward_ms", "backward_ms", "step_ms", "memory_mib",
)  # fmt: skip
NAN = math.nan


class Table:
    """Columns of floats, one row per step: appended as tuples, converted to an array on access."""

    def __init__(self) -> None:
        self.rows = 0
        self._fresh: list[tuple[float, ...]] = []
        self._settled = 0
        self._data = np.full((1024, len(COLUMNS)), NAN)

    def append(self, row: tuple[float, ...]) -> None:
        self._fresh.append(row)
        self.rows += 1

    def _settle(self) -> None:
        fresh, self._fresh = self._fresh, []
        end = self._settled + len(fresh)
        while end > len(self._data):
            self._data = np.concatenate([self._data, np.full_like(self._data, NAN)])
        self._data[self._settled : end] = fresh
        self._settled = end

    def put(self, row: int, column: str, value: float) -> None:
        if self._fresh:
            self._settle()
        self._data[row, COLUMNS.index(column)] = value

    def column(self, name: str) -> np.ndarray:
        """Return a column (S,) as a view, not a copy."""
        if self._fresh:
            self._settle()
        return self._data[: self._settled, COLUMNS.index(name)]


class Layout:
    """The parameters (column numbers) of a row of norms."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = np.asarray(columns, dtype=np.intp)


class Ragged:
    """Rows of per-parameter numbers of several optimizers, each with its own layout."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, Layout, Any]] = []

    def append(self, row: int, layout: Layout, values: Any) -> None:
        """Add a row. `values` has a number for each column of the layout: a list, or a 1-D tensor on its device."""
        self._rows.append((row, layout, values))

    def array(self, rows: int, columns: int) -> np.ndarray:
        """Return (rows, columns), NaN for missing values."""
        out = np.full((rows, columns), NAN)
        for row, layout, values in self._rows:
            if row < rows:
                out[row, layout.columns] = values.tolist() if isinstance(values, torch.Tensor) else values
        return out
