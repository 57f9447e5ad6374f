"""Measure the memory of the watched run, and recognize out-of-memory errors."""

import os
from typing import Any

import psutil
import torch

from bugzoo.machine import portable

_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20 if hasattr(os, "sysconf") else 0.0
_ALLOCATION = (
    "DefaultCPUAllocator", "can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc",
    "Cannot allocate memory",
)  # fmt: skip


def resident_mib() -> float:
    """Return the process's resident memory. On Linux it is read from /proc, much faster than with psutil."""
    if portable():
        return psutil.Process().memory_info().rss / 2**20
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(file, 64).split()[1]) * _PAGE_MIB
        finally:
            os.close(file)
    except OSError:
        return psutil.Process().memory_info().rss / 2**20


def memory_mib(params: list[Any], history: Any) -> float:
    """Return MiB on the device of `params` (allocated on CUDA, else resident), without the batches kept for replays."""
    held = history.held_mib() if history is not None else 0.0
    device = params[0].device if params else None
    if device is not None and device.type == "cuda":
        return torch.cuda.memory_allocated(device) / 2**20 - held
    return resident_mib() - held


def out_of_memory(error: BaseException) -> bool:
    """Return whether an allocation failed: in Python, in torch on the CPU (a plain RuntimeError) or on a device."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError | OSError) and any(text in str(error) for text in _ALLOCATION)
