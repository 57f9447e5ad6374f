"""The rows of a trace while it grows: cheap to append to, turned into arrays late."""

import math
import struct
from typing import Any

import numpy as np
import torch

COLUMNS = (
    "step", "loss", "grad_norm", "update_ratio", "learning_rate", "scale", "leftover", "backwards", "optimizer",
    "data_ms", "forward_ms", "backward_ms", "step_ms", "memory_mib",
)  # fmt: skip
NAN = math.nan


_ROW = struct.Struct(f"{len(COLUMNS)}d")


class Table:
    """Columns of floats, one row a step, each written at once to where it stays."""

    def __init__(self) -> None:
        self.rows = 0
        self._hold(np.full((1024, len(COLUMNS)), NAN))

    def _hold(self, data: np.ndarray) -> None:
        self._data, self._bytes = data, data.data.cast("B")

    def append(self, row: tuple[Any, ...]) -> None:
        if self.rows == len(self._data):
            self._hold(np.concatenate([self._data, np.full_like(self._data, NAN)]))
        try:
            _ROW.pack_into(self._bytes, self.rows * _ROW.size, *row)
        except struct.error:  # an optimiser's learning rate may be None
            self._data[self.rows] = row
        self.rows += 1

    def put(self, row: int, column: str, value: float) -> None:
        self._data[row, COLUMNS.index(column)] = value

    def column(self, name: str) -> np.ndarray:
        """(S,) a view, not a copy."""
        return self._data[: self.rows, COLUMNS.index(name)]


class Layout:
    """Which parameters (column numbers) a row of norms belongs to."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = np.asarray(columns, dtype=np.intp)


class Ragged:
    """Rows of per-parameter numbers of several optimisers, each with its own layout."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, Layout, Any]] = []

    def append(self, row: int, layout: Layout, values: Any) -> None:
        """`values` holds a number for each of the layout's columns: a list, or a 1-D tensor still on its device."""
        self._rows.append((row, layout, values))

    def array(self, rows: int, columns: int) -> np.ndarray:
        """(rows, columns), NaN where nothing was put."""
        out = np.full((rows, columns), NAN)
        for row, layout, values in self._rows:
            if row < rows:
                out[row, layout.columns] = values.tolist() if isinstance(values, torch.Tensor) else values
        return out
