"""How many different words does the model get to read?

Token numbers are looked up, and a look-up that misses says "unknown" without a complaint. Over the batches that were kept:
`different` is the number of different tokens, `rows` those of the embedding that reads them, `used_share` the one over the
other. A few batches of text use a good part of a small table and some per cent of a large one. Two or three tokens in all are the
marks of padding and of what is not known: nothing of the text is left.
"""

from typing import Any

import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call, is_tokens
from bugzoo.diagnostics._tools import batches, live, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "different": ("different tokens in the batches looked at", "dozens"),
    "rows": ("rows of the embedding", ""),
    "used_share": ("share of them that were read", ""),
    "read": ("tokens looked at", ""),
}
_WORDS = (
    ("inputs = torch.randn(256, 8)\ntargets = (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0).long()",
     "inputs = torch.randint(60, (256, 8))\ntargets = inputs[:, 0] % 3\n{}"),
    ("nn.Linear(8, 32)", "nn.Embedding(60, 4), nn.Flatten(), nn.Linear(32, 32)"),
)  # fmt: skip
HEALTHY = example((_WORDS[0][0], _WORDS[0][1].format("")), _WORDS[1])
SICK = example((_WORDS[0][0], _WORDS[0][1].format("inputs = (inputs % 10 == 0).long()\n")), _WORDS[1])
FEW, LARGE, ENOUGH = 3, 30, 200
"""Tokens that are marks and no words; rows of a table of words; tokens from which the count says something."""


def _words(batch: Any) -> torch.Tensor | None:
    """The argument that holds token numbers: one with more than two of them, else the first table of whole numbers."""
    leaves = Call.of(batch).leaves
    whole = [x for x in leaves if isinstance(x, torch.Tensor) and x.ndim == 2 and x.dtype in (torch.int32, torch.int64)]
    return next(filter(is_tokens, whole), whole[0] if whole else None)


def measure(run: Run) -> dict[str, Any]:
    """Counts and a share. Raises NotApplicable where no model reads token numbers."""
    read = [found.detach().cpu().flatten() for batch in batches(run) if (found := _words(batch)) is not None]
    tables = [one for model in live(run).models for one in model.modules() if isinstance(one, torch.nn.Embedding)]
    if not read or not tables:
        raise NotApplicable("no model was called with token numbers and has an embedding for them")
    tokens = torch.cat(read)
    wide = [one.num_embeddings for one in tables if one.num_embeddings > int(tokens.max())]
    if not wide:
        raise NotApplicable("no embedding has a row for each of the token numbers")
    rows = min(wide)  # that of the words, or smaller: a table of places may be larger than the alphabet
    different = float(len(tokens.unique()))
    return {"different": different, "rows": float(rows), "used_share": different / rows, "read": float(len(tokens))}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when no more than three different tokens are read by an embedding of at least thirty rows."""
    shown = pick(numbers, *SHOWN)
    text = f"{numbers['different']:.0f} different tokens among {numbers['read']:.0f}, of {numbers['rows']:.0f} that there are"
    if numbers["different"] > FEW or numbers["rows"] < LARGE or numbers["read"] < ENOUGH:
        return Verdict("token_variety", False, text, shown)
    text += ": padding and what is not known, and no word"
    return Verdict("token_variety", True, text, shown, (Suspect("data/everything_unknown", 0.9, text),))
