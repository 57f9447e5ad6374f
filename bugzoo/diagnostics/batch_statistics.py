"""Of how many rows does a batch normalisation take its means and deviations, and how much do these vary?

BatchNorm normalises a training batch by the batch's own numbers, and keeps an average of them for later. The batches that were
kept go through the trained model once more, in training mode. `rows` is how many entered at once, `values` how many numbers a
channel has then (rows times places of the image) in the layer that has fewest, and `scatter` how far the variance of a batch
lies from the average that the layer keeps, as the root mean square of the logarithm of their ratio, in the layer where it is
largest. A batch of thirty rows lies within a fifth of it.
"""

from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import NORMS, batches, model_of, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "rows": ("rows that enter the model at once while it trains", "16 or more"),
    "values": ("numbers of which a layer takes a mean", "30 or more"),
    "scatter": ("how far a batch's variances lie from those that are kept, as a logarithm", "below 0.2"),
}
_NORMED = ("nn.ReLU()", "nn.BatchNorm1d(32), nn.ReLU()")
HEALTHY = example(_NORMED)
SICK = example(_NORMED, ("split(32)", "split(2)"))
FEW, FAR = 3, 0.22
"""So many rows or fewer tell little of a data set; and what they tell lies farther off than this."""


def _averages(model: torch.nn.Module) -> list[torch.nn.Module]:
    """The layers that keep an average, and were trained with it: one whose weights are frozen keeps what it came with."""
    layers = (one for one in model.modules() if isinstance(one, NORMS) and one.running_var is not None)
    return [one for one in layers if one.weight is None or one.weight.requires_grad]


def _variance(layer: Any) -> torch.Tensor:
    return layer.running_var.double().clone()


def measure(run: Run) -> dict[str, Any]:
    """Counts, and a root mean square. Raises NotApplicable for a model that has no such layer, or cannot be called again."""
    need_steps(run, 1)
    kept = batches(run)
    model = model_of(run, kept[-1])
    layers = _averages(model)
    if not layers:
        raise NotApplicable("no layer normalises by the numbers of a batch, and keeps an average of them")
    seen: dict[torch.nn.Module, list[tuple[int, int, float]]] = {layer: [] for layer in layers}
    average: dict[Any, torch.Tensor] = {layer: _variance(layer) for layer in layers}

    def entered(layer: Any, args: Any) -> None:
        rows = args[0].detach().double().transpose(0, 1).flatten(1)  # (channels, values)
        if rows.shape[1] > 1:
            ratio = (rows.var(1) + layer.eps) / (average[layer] + layer.eps)
            seen[layer].append((args[0].shape[0], rows.shape[1], float(ratio.log().square().mean())))

    hooks = [layer.register_forward_pre_hook(entered) for layer in layers]
    try:
        with quiet(model, training=True):
            for batch in kept:
                call(model, batch.args, batch.kwargs)
    except Exception as error:
        raise NotApplicable(f"its model cannot be called again ({type(error).__name__})") from None
    finally:
        for hook in hooks:
            hook.remove()
    found = [np.asarray(one) for one in seen.values() if one]
    if not found:
        raise NotApplicable("no batch came to such a layer")
    return {
        "rows": float(np.median([one[:, 0] for one in found])),
        "values": float(min(np.median(one[:, 1]) for one in found)),
        "scatter": float(max(np.sqrt(one[:, 2].mean()) for one in found)),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a few rows whose numbers vary from batch to batch."""
    shown = pick(numbers, *SHOWN)
    text = f"{numbers['rows']:.0f} rows enter the model at once in training, a channel has {numbers['values']:.0f} numbers, and"
    text += f" the variances of a batch lie {numbers['scatter']:.2f} from those that are kept (root mean square of the logarithm)"
    if numbers["rows"] <= FEW and numbers["scatter"] > FAR:
        return Verdict("batch_statistics", True, text, shown, (Suspect("modes/batch_norm_tiny_batches", 0.8, text),))
    return Verdict("batch_statistics", False, text, shown)
