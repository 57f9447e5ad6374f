"""Copy numbers from a CUDA device in blocks, without a host sync."""

from typing import Any

import torch

from bugzoo.watching.table import Table

BLOCK = 100
"""How many numbers are copied at once."""


class Waiting:
    """A queue of 0-dim tensors for a table. Each block is copied to pinned memory and read after it has arrived."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._entries: list[tuple[int, str, torch.Tensor]] = []
        self.landed = 0
        """Rows below this one are complete."""
        self._flying: list[tuple[list[tuple[int, str]], torch.Tensor, Any]] = []

    def add(self, row: int, column: str, value: torch.Tensor) -> None:
        self._entries.append((row, column, value.detach()))

    @torch.no_grad()
    def poll(self) -> bool:
        """Send a full block and read blocks that have arrived. Returns True if the table has new numbers."""
        if len(self._entries) >= BLOCK:
            self._send()
        landed = False
        while self._flying and self._flying[0][2].query():
            self._land(*self._flying.pop(0)[:2])
            landed = True
        return landed

    @torch.no_grad()
    def finish(self) -> None:
        """Wait for all blocks and read them."""
        if self._entries:
            self._send()
        for places, block, event in self._flying:
            event.synchronize()
            self._land(places, block)
        self._flying = []
        self.landed = self._table.rows

    def _send(self) -> None:
        entries, self._entries = self._entries, []
        by_device: dict[torch.device, list[tuple[int, str, torch.Tensor]]] = {}
        for entry in entries:
            by_device.setdefault(entry[2].device, []).append(entry)
        for device, some in by_device.items():
            places = [(row, column) for row, column, _ in some]
            block = torch.stack([value.reshape(()).double() for _, _, value in some])
            if device.type == "cuda":
                target = torch.empty(block.shape, dtype=block.dtype, pin_memory=True)
                target.copy_(block, non_blocking=True)
                event = torch.cuda.Event()
                event.record(torch.cuda.current_stream(device))
                self._flying.append((places, target, event))
            else:
                self._land(places, block.cpu())

    def _land(self, places: list[tuple[int, str]], block: torch.Tensor) -> None:
        for (row, column), value in zip(places, block.tolist(), strict=True):
            self._table.put(row, column, value)
            self.landed = max(self.landed, row)
