"""Does the evaluation read embedding rows that no training step changed?

An embedding row learns only when its word is in a batch. The optimizer state (of Adam, or a momentum) of a row that no
gradient reached is exactly zero. `untrained_share` is the share of the evaluation's words that read such rows, which still
hold their random initialization. A vocabulary of the training texts maps unknown words to one unknown token, which is
trained. One built from all texts has a row for each word of the evaluation. `reached_share`, the share of rows that training
or evaluation use, is then large. A vocabulary from elsewhere has many rows that neither uses.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import share
from bugzoo.diagnostics.conditions import Alarm, Condition
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.evaluation import evaluated
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
VIEW = "weights"
TITLE = "Words of the evaluation"
WHOLE = True  # a training that was cut short has not seen all its data
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
MUCH, USED = 0.02, 0.6
_MEMORIES = ("exp_avg_sq", "exp_avg", "momentum_buffer", "sum", "square_avg")


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, and shares between 0 and 1, of the embedding with most untrained words."""

    read: float = number("words that the evaluation reads")
    untrained_share: float = number("share of words whose embedding row had no gradient", (0, 0.02))
    reached_share: float = number("share of embedding rows used in training or evaluation")
    untrained_rows: float


def _beyond_chance(numbers: Measured | Mapping[str, Any]) -> bool:
    """Return whether clearly more words than the limit are untrained, in a table of which most rows are used.

    Clearly: by two standard deviations of a count. Of 140 words, three may be new by chance.
    """
    limit = MUCH * numbers["read"]
    many = numbers["untrained_share"] * numbers["read"] > limit + 2 * math.sqrt(limit)
    return many and numbers["reached_share"] >= USED


unreached = Alarm(
    Condition(_beyond_chance, {"untrained_share": MUCH}),
    "The {read:.0f} words of the evaluation were looked up. For {untrained_share:.0%} of them no gradient reached "
    "the row.",
    "At most {limits[untrained_share]:.0%} passes.",
)
ALARMS = (unreached,)


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


def measure(run: Run) -> Numbers:
    """Shares between 0 and 1, of the embedding with most untrained words. Raises NotApplicable without a trained one."""
    models = live(run).models
    tables = [module for module in models[0].modules() if isinstance(module, torch.nn.Embedding)] if models else []
    trained = {
        table: reached for table in tables if (reached := _reached(run, table.weight)) is not None and reached.any()
    }
    if not trained:
        raise NotApplicable("no embedding was trained by an optimizer with a state for each row")
    read: dict[torch.nn.Embedding, Counter[int]] = {table: Counter() for table in trained}
    fillers: dict[torch.nn.Embedding, set[int]] = {table: set() for table in trained}

    def called(module: Any, args: Any) -> None:
        if args and isinstance(args[0], torch.Tensor):
            read[module].update(args[0].detach().flatten().tolist())
            if args[0].ndim == 2:  # the most common last token is padding, where the table has no padding_idx
                fillers[module].add(int(args[0][:, -1].mode().values))

    handles = [table.register_forward_pre_hook(called) for table in trained]
    try:
        evaluated(run, again=True)
    finally:
        for handle in handles:
            handle.remove()
    records = [_numbers(table, trained[table], read[table], fillers[table]) for table in trained if read[table]]
    if not records:
        raise NotApplicable("the evaluation reads no embedding")
    return max(records, key=lambda numbers: numbers.untrained_share)


def _numbers(table: torch.nn.Embedding, reached: torch.Tensor, read: Counter[int], fillers: set[int]) -> Numbers:
    padding = {row for row in fillers if not reached[row]} | {table.padding_idx}
    counted = {row: times for row, times in read.items() if row not in padding}
    untrained = {row: times for row, times in counted.items() if not reached[row]}
    used = reached.clone()
    used[list(counted)] = True
    total = sum(counted.values())
    return Numbers(
        read=float(total),
        untrained_share=sum(untrained.values()) / max(1, total),
        reached_share=float(used.float().mean()),
        untrained_rows=float(len(untrained)),
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires where clearly over 2 % of the words read untrained rows, in a table of which most rows are used."""
    text = f"{share(numbers.untrained_share)} of the {numbers.read:.0f} words of the evaluation read an embedding row"
    text += f" that no gradient reached (usually {Numbers.usual('untrained_share')})"
    fired = unreached(numbers)
    suspects = (Suspect("data/leaky_vocabulary", 0.75, text),) if fired else ()
    return Verdict("untrained_rows", fired, text, numbers.labeled(), suspects)
