"""A wrong index raises on the CPU. On a CUDA device it ends the process's use of the device, some calls later.

Instruments ask a model what it says to texts that are longer, or made of other tokens, than what it was trained on. What the
CPU answers with an IndexError, and the instrument with "could not measure", would there take all instruments with it that
come after.
"""

from typing import Any

import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

DEVICES = {"cuda"}


class InBounds(TorchFunctionMode):
    """While it is on, an embedding on a CUDA device raises IndexError for a row that it has not, as on the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is F.embedding and len(args) > 1 and args[0].device.type in DEVICES:
            rows, table = args[0], args[1]
            if rows.numel():
                lowest, highest = rows.aminmax()
                if lowest < 0 or highest >= table.shape[0]:
                    raise IndexError(
                        f"index out of range in self: {int(lowest)} to {int(highest)} of {table.shape[0]} rows"
                    )
        return function(*args, **(kwargs or {}))
