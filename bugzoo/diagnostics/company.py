"""Does the model answer a question alone as it does among others, and twice as it does once?

A few samples of a batch are asked each by itself, in eval mode, and the whole batch is asked twice. `alone_gap` is how far the
answers to one sample lie apart, `again_gap` how far those to one batch do, each over the usual distance between two samples (0
is right). Something of the neighbours reaches an answer: axes or rows were mixed up, or a mean runs over their padding. Or
something of what was asked before is still there. Asked of models that give one answer a sample.
"""

from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "alone_gap": ("distance of the answers alone and among others", "0"),
    "again_gap": ("distance of the answers when asked twice", "0"),
    "asked": ("samples that were asked alone", ""),
}
HEALTHY = example()
SICK = example(("nn.ReLU()", "nn.Softmax(dim=0)"))
MOST = 8
"""Samples that are asked alone."""
LEAST, AGAIN = 0.01, 1e-3
"""The second: of one batch asked twice, where no sum has another order."""


def measure(run: Run) -> dict[str, Any]:
    """Gaps over the spread of the samples, and how many were asked. Raises NotApplicable where rows are no samples."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    main = arguments.main()
    rows = arguments.leaves[main].shape[0] if main is not None else 0
    if batch.targets is None or batch.targets.ndim != 1 or len(batch.targets) != rows or rows < 2:
        raise NotApplicable("the batch has not one target for each of several samples")
    with quiet(model_of(run, batch)) as model:
        out = call(model, batch.args, batch.kwargs)
        if out.shape[0] != rows or not torch.isfinite(out).all():
            raise NotApplicable("the model does not give one finite answer for each sample")
        chosen = range(0, rows, max(1, rows // MOST))
        try:
            alone = [call(model, *arguments.alone(index, rows, -1, -1))[0] for index in chosen]
        except Exception as error:  # a model that takes no single sample
            raise NotApplicable(f"the model cannot be asked about one sample alone ({error})") from None
        first = call(model, batch.args, batch.kwargs)
        again = call(model, batch.args, batch.kwargs)
    spread = float(out.std(0).mean()) + 1e-12
    if alone[0].shape != out[0].shape:
        raise NotApplicable("the model's answer has another shape for a sample alone")
    apart = [float((one - first[index]).abs().mean()) for one, index in zip(alone, chosen, strict=True)]
    return {
        "alone_gap": sum(apart) / len(apart) / spread,
        "again_gap": float((again - first).abs().mean()) / spread,
        "asked": float(len(apart)),
        "recurrent": float(any(isinstance(part, torch.nn.RNNBase) for part in model.modules())),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a gap of a hundredth of the usual distance between two samples; of a thousandth when the same is asked twice."""
    shown = {name: numbers[name] for name in SHOWN}
    again, alone = numbers["again_gap"], numbers["alone_gap"]
    if again > AGAIN:
        text = f"asked the same twice, the model's answers lie {again:.2g} of the samples' spread apart: it remembers"
        return Verdict("company", True, text, shown, (Suspect("recurrent/state_kept_between_batches", 0.7, text),))
    if alone > LEAST:
        text = f"asked alone, a sample gets an answer {alone:.2g} of the samples' spread away from the one among others"
        causes = (
            ("recurrent/batch_first_mismatch", "recurrent/lengths_out_of_order", "recurrent/output_for_hidden")
            if numbers["recurrent"]
            else ("loss/wrong_axis_reduction",)
        )
        return Verdict("company", True, text, shown, tuple(Suspect(cause, 0.4, text) for cause in causes))
    return Verdict("company", False, "a sample gets the same answer alone, among others and again", shown)
