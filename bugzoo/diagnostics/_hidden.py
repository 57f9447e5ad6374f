"""Where hidden tokens get through: do the attention weights lie on them, or are positions mixed up beside the attention?

A leak shows that an output depends on a token that it must not see. The same leak comes from a mask that is missing, from
one that is turned round, and from heads that are cut or joined along the wrong axis while the mask is obeyed to the letter.
The weights that are really multiplied tell the first two from the last: they lie on what is hidden, or they do not.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from bugzoo.diagnostics._attention import AttentionRows
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import call, share, tensors
from bugzoo.diagnostics.verdict import Suspect

LEAK = 1e-3
"""Movement, over the usual one, from which on something gets through."""
TURNED = 0.95
"""Part of an attention's weight on what it must not see, from which on its mask is turned round and not just missing."""
CLEAN = 1e-4
"""Part of a row's weight that is rounding."""


class Reach(AttentionRows):
    """Weight on hidden keys in each attention over `time` positions that is seen, and the values of the first one.

    `ahead`: part of the weight that lies on later positions, mean over all rows but the last. `padding`: part that lies
    behind `valid`, the (batch,) lengths, mean over the samples that are padded and their own rows.
    """

    def __init__(self, time: int, valid: torch.Tensor | None = None) -> None:
        super().__init__()
        self.time, self.valid = time, valid
        self.ahead: list[float] = []
        self.padding: list[float] = []
        self.values: torch.Tensor | None = None
        self.whole = 0

    def saw(self, weights: torch.Tensor, values: torch.Tensor) -> None:
        if weights.shape[-1] != self.time:
            return
        table = weights.detach().float()
        if table.shape[-2] == self.time:
            self.ahead.append(float(table.triu(1).sum(-1)[..., :-1].mean()))
            if self.values is None and values.ndim >= 2 and values.shape[-2] == self.time:
                self.values = values.detach().float().clone()
        if self.valid is not None and table.numel() % (len(self.valid) * table.shape[-2] * self.time) == 0:
            self.padding.append(self._on_padding(table.reshape(len(self.valid), -1, table.shape[-2], self.time)))

    def _on_padding(self, table: torch.Tensor) -> float:
        assert self.valid is not None
        places = torch.arange(self.time, device=table.device)
        text = places < self.valid.to(table.device)[:, None]
        weight = (table * ~text[:, None, None, :]).sum(-1).mean(1)  # (batch, queries)
        rows = text if table.shape[2] == self.time else torch.ones_like(weight, dtype=torch.bool)
        rows = rows & ~text.all(1)[:, None]
        return float(weight[rows].mean()) if rows.any() else 0.0

    def _whole(self, function: Any, args: Any, kwargs: Any) -> None:
        given = dict(zip((a.name for a in function._schema.arguments), args, strict=False)) | kwargs
        queries, keys, values = given.get("query"), given.get("key"), given.get("value")
        if queries is None or keys is None or values is None or queries.ndim != 4:
            self.whole += 1
            return
        scale = given.get("scale") or 1 / math.sqrt(queries.shape[-1])
        scores = queries.float() @ keys.float().transpose(-2, -1) * scale
        mask = given.get("attn_mask", given.get("attn_bias"))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask.float()
        if given.get("is_causal"):
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        self.saw(scores.softmax(-1).nan_to_num(), values)


@contextmanager
def _opened() -> Iterator[None]:
    """A whole encoder layer in one kernel shows no weights: torch's other way through it does."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def look(
    model: Any, arguments: Call, place: int, changed: torch.Tensor, cut: int, valid: torch.Tensor | None
) -> dict[str, float]:
    """Where tokens get through: `hidden_least` and `hidden_most`, part of the weight that attentions put on hidden keys.

    Hidden is what lies behind the (batch,) lengths `valid`, or without them what is later. `mixed_before` is the movement of
    the first attention's values before `cut` where only the tokens from there on are `changed`, relative to that behind it.
    Empty where no weights were seen.
    """
    time = arguments.leaves[place].shape[1]
    with _opened():
        with Reach(time, valid) as seen:
            call(model, *arguments.arguments())
        with Reach(time) as other:
            call(model, *arguments.arguments({place: changed}))
    hidden = seen.ahead if valid is None else seen.padding
    if not hidden or seen.whole:
        return {}
    found = {"hidden_least": min(hidden), "hidden_most": max(hidden)}
    if seen.values is not None and other.values is not None and seen.values.shape == other.values.shape:
        moved = (other.values - seen.values).abs()
        usual = float(moved[..., cut:, :].mean())
        found["mixed_before"] = float(moved[..., :cut, :].mean()) / usual if usual > 0 else 0.0
    return found


def tokens_moved(model: Any, long: tuple[Any, Any], short: tuple[Any, Any], time: int, keep: int) -> bool:
    """Does the padding of one sample move what any module answers at its own positions, or only what is made of them all?"""
    answers: list[list[torch.Tensor]] = []
    with _opened():
        for given, length in ((long, time), (short, keep)):
            answers.append([])

            def note(module: Any, args: Any, out: Any, length: int = length) -> None:
                answers[-1] += [t[:, :keep].detach().float().clone() for t in tensors(out)
                                if t.ndim >= 3 and len(t) == 1 and t.shape[1] == length and t.is_floating_point()]  # fmt: skip

            hooks = [module.register_forward_hook(note) for module in model.modules()]
            try:
                call(model, *given)
            finally:
                for hook in hooks:
                    hook.remove()
    pairs = [(a, b) for a, b in zip(*answers, strict=False) if a.shape == b.shape]
    return any(float((a - b).abs().mean()) > 1e-3 * float(a.std()) for a, b in pairs)


@dataclass(frozen=True)
class Way:
    """What an output must not see, and the fault that is suspected where attention looks at it."""

    hidden: str
    missing: str


LATER = Way("later positions", "attention/causal_mask_missing")
PADDING = Way("the padding", "attention/mask_inverted")


def through(numbers: dict[str, Any], text: str, way: Way, place: dict[str, Any]) -> list[Suspect]:
    """Suspects for what gets through an attention, by where its weights lie; without them the mask is suspected."""
    hidden, missing = way.hidden, way.missing
    least, most = numbers.get("hidden_least", 0.5), numbers.get("hidden_most", 0.5)
    if least > TURNED:
        text += f", and {share(least)} of the attention lies on {hidden}: the mask hides what it should show"
        return [Suspect("attention/mask_inverted", 0.95, text, **place)]
    if most > CLEAN:
        score = 0.4 if way is PADDING else 0.5 if numbers["softmax_over_queries"] else 0.95
        text += ": the answer is visible" if way is LATER else ": attention sees the padding"
        return [Suspect(missing, score, text, **place)]
    text += f", though no attention weight lies on {hidden}"
    if numbers.get("tokens_moved") == 0:
        text += ", and no word's own vector moves: something is made of all positions, padding among them"
        return [Suspect("recurrent/padding_read_as_text", 0.4, text)]
    if numbers.get("mixed_before", 0.0) > LEAK:
        text += ": positions are mixed up before it, where heads are taken apart"
        return [Suspect("attention/heads_mixed", 0.85, text), Suspect("shape/view_instead_of_permute", 0.4, text)]
    text += ": positions are mixed up behind it, where heads are put together"
    return [Suspect("shape/view_instead_of_permute", 0.85, text), Suspect("attention/heads_mixed", 0.4, text)]
