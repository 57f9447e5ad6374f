"""Where a program runs unless a scenario says otherwise, and which devices this machine has."""

import re

from bugzoo.errors import UserError, unknown

_chosen = "cpu"


def default() -> str:
    """The device of a scenario that names none: "cpu", until somebody has chosen in this process."""
    return _chosen


def use(device: str) -> None:
    """Choose it for every scenario made from here on in this process. What is made already keeps its own."""
    global _chosen
    _chosen = device


def check(device: str, instead: str, see: str) -> None:
    """Raises UserError for a device that this machine does not have.

    `instead`: what somebody without one does, behind a semicolon; `see`: the command that shows what is allowed.
    """
    if device == "cpu":
        return
    if not re.fullmatch(r"cuda(:[0-9]{1,3})?", device):
        raise unknown("device", device, ("cpu", "cuda"), see)
    import torch

    if not torch.cuda.is_available():
        raise UserError(f"No CUDA device can be used here; {instead}")
    count = torch.cuda.device_count()
    if int(device.partition(":")[2] or 0) >= count:
        raise UserError(f"There is no CUDA device {device}; they go up to cuda:{count - 1}.")
