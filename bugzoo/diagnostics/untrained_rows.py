"""Does the evaluation read embedding rows that no training step changed?

An embedding row learns only when its word is in a batch. The optimizer state (of Adam, or a momentum) of a row that no
gradient reached is exactly zero. `untrained_share` is the share of the evaluation's words that read such rows, which still
hold their random initialization. A vocabulary of the training texts maps unknown words to one unknown token, which is
trained. One built from all texts has a row for each word of the evaluation. `reached_share`, the share of rows that training
or evaluation use, is then large. A vocabulary from elsewhere has many rows that neither uses.
"""

import math
from collections import Counter
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
WHOLE = True  # a training that was cut short has not seen all its data
SHOWN = {
    "read": ("words that the evaluation reads", ""),
    "untrained_share": ("share of words whose embedding row had no gradient", "0 to 0.02"),
    "reached_share": ("share of embedding rows used in training or evaluation", ""),
}
KNOWN_PROBLEMS = (
    "A false positive for pretrained vectors, whose rows help without a gradient, and for recommenders whose "
    "validation set has new items. "
    "It says nothing about SGD without momentum, and misses everything under Adam's L2 weight decay, which fills "
    "every row's state."
)
_TAIL = """\
model.eval()
with torch.no_grad():
    validation_loss = F.cross_entropy(model(inputs[200:]), targets[200:])
"""
_LAST = "        accuracy = (model(inputs).argmax(1) == targets).float().mean()\n"
_WORDS = (
    (_LAST, "        pass\n" + _TAIL),
    ("inputs = torch.randn(256, 8)\ntargets = (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0).long()",
     "inputs = torch.randint(40, (256, 8))\n{}targets = (inputs[:, 0] % 3).long()"),
    ("nn.Linear(8, 32)", "nn.Embedding(60, 4), nn.Flatten(), nn.Linear(32, 32)"),
    ("torch.randperm(256)", "torch.randperm(200)"),
)  # fmt: skip
HEALTHY = example(_WORDS[0], (_WORDS[1][0], _WORDS[1][1].format("")), *_WORDS[2:])
SICK = example(
    _WORDS[0], (_WORDS[1][0], _WORDS[1][1].format("inputs[200:, 3] = torch.randint(40, 60, (56,))\n")), *_WORDS[2:]
)
MUCH, OWN = 0.02, 0.6
_MEMORIES = ("exp_avg_sq", "exp_avg", "momentum_buffer", "sum", "square_avg")


def _reached(run: Run, weight: torch.Tensor) -> torch.Tensor | None:
    """(rows,) bool: those that some gradient reached, by the optimizer's state; None where it has none."""
    for optimizer in live(run).optimizers:
        state = (
            optimizer.state.get(weight, {})
            if any(weight is p for g in optimizer.param_groups for p in g["params"])
            else {}
        )
        for name in _MEMORIES:
            memory = state.get(name)
            if isinstance(memory, torch.Tensor) and memory.shape == weight.shape:
                return (memory != 0).any(1).cpu()
    return None


def measure(run: Run) -> dict[str, Any]:
    """Shares between 0 and 1, of the embedding with most untrained words. Raises NotApplicable without a trained one."""
    kept = live(run)
    model = kept.models[0] if kept.models else None
    tables = [one for one in model.modules() if isinstance(one, torch.nn.Embedding)] if model is not None else []
    known = {one: reached for one in tables if (reached := _reached(run, one.weight)) is not None and reached.any()}
    if not known:
        raise NotApplicable("no embedding was trained by an optimizer with a state for each row")
    read: dict[torch.nn.Embedding, Counter[int]] = {one: Counter() for one in known}
    fillers: dict[torch.nn.Embedding, set[int]] = {one: set() for one in known}

    def called(module: Any, args: Any) -> None:
        if args and isinstance(args[0], torch.Tensor):
            read[module].update(args[0].detach().flatten().tolist())
            if args[0].ndim == 2:  # the most common last token is padding, where the table has no padding_idx
                fillers[module].add(int(args[0][:, -1].mode().values))

    handles = [one.register_forward_pre_hook(called) for one in known]
    try:
        evaluated(run, again=True)
    finally:
        for handle in handles:
            handle.remove()
    found = [_numbers(one, known[one], read[one], fillers[one]) for one in known if read[one]]
    if not found:
        raise NotApplicable("the evaluation reads no embedding")
    return max(found, key=lambda one: one["untrained_share"])


def _numbers(table: torch.nn.Embedding, reached: torch.Tensor, read: Counter[int], fillers: set[int]) -> dict[str, Any]:
    padding = {row for row in fillers if not reached[row]} | {table.padding_idx}
    counted = {row: times for row, times in read.items() if row not in padding}
    untrained = {row: times for row, times in counted.items() if not reached[row]}
    used = reached.clone()
    used[list(counted)] = True
    total = sum(counted.values())
    return {
        "read": float(total),
        "untrained_share": sum(untrained.values()) / max(1, total),
        "untrained_rows": float(len(untrained)),
        "reached_share": float(used.float().mean()),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where clearly over 2 % of the words read untrained rows, in a table of which most rows are used.

    Clearly: by two standard deviations of a count. Of 140 words, three may be new by chance.
    """
    shown = pick(numbers, *SHOWN)
    text = f"{share(numbers['untrained_share'])} of the {numbers['read']:.0f} words of the evaluation read an embedding row"
    text += " that no gradient reached (usually near 0)"
    usual = MUCH * numbers["read"]
    if numbers["untrained_share"] * numbers["read"] <= usual + 2 * math.sqrt(usual) or numbers["reached_share"] < OWN:
        return Verdict("untrained_rows", False, text, shown)
    return Verdict("untrained_rows", True, text, shown, (Suspect("data/leaky_vocabulary", 0.75, text),))
