"""Lesson 10: baselines of a text, what a model writes, calls with an all-hidden row, and the weights of a first layer."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn

from bugzoo import device
from bugzoo.lessons.parts.checklist import variables
from bugzoo.plots import attention_maps
from bugzoo.scenario import Scenario

MaskedSoftmax = Callable[[Tensor, Tensor], Tensor]
SplitHeads = Callable[[Tensor, int], Tensor]
Reach = Callable[[nn.Module, Tensor, int], int]

SHOWN, HEADS = 12, 4
"""Places in a picture of attention weights, and the program's heads."""
LATE = "mask after the softmax"
SOFTMAX = "        weights = F.softmax(scores, dim=-1)\n"
HIDE_LATER = "        weights = weights * torch.tril(torch.ones(time, time, device=x.device))\n"
DIVIDE = "        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)\n"


def trained(case: Scenario, **settings: Any) -> dict[str, Any]:
    """Return a program's variables after its training and evaluation, with other settings."""
    return variables(Scenario(case.program, case.faults, settings, device=device.used()).source)


def _text(case: Scenario) -> dict[str, Any]:
    """Return what a program binds before its model: its text as numbers, and `batch`."""
    return variables(case.source.partition("# %% Model")[0])


def baselines(case: Scenario) -> tuple[float, float]:
    """Return the validation losses in nats of counting which character follows which, and of counting characters alone."""
    names = _text(case)
    train, valid = names["train_codes"], names["validation_codes"]
    pairs = torch.ones(96, 96).index_put_(
        (train[:-1], train[1:]), torch.tensor(1.0), accumulate=True
    )  # add-one smoothing
    bigram = -(pairs / pairs.sum(1, keepdim=True)).log()[valid[:-1], valid[1:]].mean()
    return bigram.item(), -(pairs.sum(0) / pairs.sum()).log()[valid].mean().item()


def windows(case: Scenario, count: int = 256) -> tuple[Tensor, Tensor]:
    """Return (inputs, targets) of validation text, (count, 32) characters each."""
    names = _text(case)
    torch.manual_seed(1)
    inputs, targets = names["batch"](names["validation_codes"], count)
    return inputs.to(device.used()), targets.to(device.used())


@torch.no_grad()
def write(model: nn.Module, texts: Tensor, length: int = 200) -> Tensor:
    """Return what a model writes after each of some texts: each character drawn as likely as the model says."""
    torch.manual_seed(0)
    start = texts.shape[1]
    for _ in range(length):
        texts = torch.cat([texts, torch.multinomial(model(texts[:, -32:])[:, -1].softmax(-1), 1)], 1)
    return texts[:, start:]


def readable(row: Tensor) -> str:
    """Return characters as text."""
    return "".join("\n" if code == 0 else chr(code + 31) for code in row.tolist())


def repeats(texts: Tensor) -> float:
    """Return the share of characters that are the same as the one before."""
    return (texts[..., 1:] == texts[..., :-1]).float().mean().item()


def two_texts() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return two texts of 5 and 3 words, (2, 5, 4) numbers, the second left-padded; and three masks.

    The masks are True at later places, (5, 5), at padding, (2, 5), and where a row may read, (2, 5, 5).
    """
    words = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    later, padding = torch.ones(5, 5).triu(1) > 0, torch.zeros(2, 5) > 0
    padding[1, :2] = True
    return words, later, padding, ~later & ~padding[:, None]


def seven_calls(masked_softmax: MaskedSoftmax) -> dict[str, Tensor]:
    """Attend to two texts, causal and padded, in seven ways, and print a row that is all hidden; return the outputs."""
    words, later, padding, visible = two_texts()
    qkv, scores = (words, words, words), words @ words.mT / 2
    low = torch.zeros(2, 5, 5).masked_fill(~visible, -math.inf)
    module = nn.MultiheadAttention(4, 1, bias=False, batch_first=True)
    module.in_proj_weight.data, module.out_proj.weight.data = torch.eye(4).repeat(3, 1), torch.eye(4)
    outputs = {
        "your masked_softmax": masked_softmax(scores, visible) @ words,
        "softmax of -inf": F.softmax(scores + low, -1) @ words,
        "softmax of -1e9": F.softmax(scores.masked_fill(~visible, -1e9), -1) @ words,
        "F.scaled_dot_product_attention, boolean mask": F.scaled_dot_product_attention(*qkv, attn_mask=visible),
        "F.scaled_dot_product_attention, 0 and -inf": F.scaled_dot_product_attention(*qkv, attn_mask=low),
        "nn.MultiheadAttention": module(*qkv, key_padding_mask=padding, attn_mask=later)[0],
        "nn.MultiheadAttention, need_weights=False": module(*qkv, padding, need_weights=False, attn_mask=later)[0],
    }
    print(f"torch {torch.__version__}, on the CPU: an output of the hidden row")
    for name, output in outputs.items():
        print(f"  {name:45} {output[1, 0, 0].item():5.2f}")
    return outputs


def late_masks(case: Scenario) -> dict[str, str]:
    """Return name -> text of a program that hides later places after its softmax, too, and then with rows divided by their sum."""
    return {
        LATE: case.source.replace(SOFTMAX, SOFTMAX + HIDE_LATER),
        "divided by its sum": case.source.replace(SOFTMAX, SOFTMAX + HIDE_LATER + DIVIDE),
    }


@torch.no_grad()
def scores_and_mask(model: Any, texts: Tensor, split_heads: SplitHeads) -> tuple[Tensor, Tensor]:
    """Return the scores of the first layer, (batch, heads, time, time), and its mask, True where a row may read."""
    block, places = model.blocks[0], torch.arange(texts.shape[1], device=texts.device)
    hidden = block.norm1(model.characters(texts) + model.positions(places))
    queries, keys, _ = (split_heads(part, HEADS) for part in block.attention.project(hidden).chunk(3, dim=-1))
    return queries @ keys.mT / math.sqrt(queries.shape[-1]), block.attention.mask[: len(places), : len(places)] > 0


def maps(
    models: Mapping[str, Any], texts: Tensor, split_heads: SplitHeads, masked_softmax: MaskedSoftmax
) -> dict[str, Any]:
    """Return name -> weights of the first layer, (12, 12), a mean over texts and heads.

    The model named `LATE` hides later places a second time, after its softmax.
    """
    drawn = {}
    for name, model in models.items():
        weights = masked_softmax(*scores_and_mask(model, texts[:, :SHOWN], split_heads)).mean((0, 1)).cpu().numpy()
        drawn[name] = weights * _past() if name == LATE else weights
    return drawn


def _past() -> Any:
    return torch.ones(SHOWN, SHOWN).tril().numpy()


def picture(weights: Mapping[str, Any]) -> Figure:
    """Draw maps of weights, with the later places hatched and the sums of the rows."""
    return attention_maps.picture(weights, _past() > 0)


def player(
    reach: Reach, split_heads: SplitHeads, masked_softmax: MaskedSoftmax, texts: Tensor
) -> Callable[..., Figure | None]:
    """Return a function that trains the healthy program with another diagonal and other layers, and draws its weights."""

    def with_mask(diagonal: int, layers: int) -> Figure | None:
        source = Scenario("mini_transformer", (), {"layers": int(layers)}, device=device.used()).source
        ones = "torch.ones(context, context)"
        names = variables(source.replace(ones, f"{ones}, diagonal={diagonal}"))
        print(f"diagonal {diagonal}, {layers} layers: last 20 losses {sum(names['losses'][-20:]) / 20:.2f}")
        if not math.isfinite(names["losses"][-1]):
            return None
        print("places ahead:", reach(names["model"], texts[:16], 10))
        return picture(maps({f"diagonal {diagonal}, layer 1": names["model"]}, texts, split_heads, masked_softmax))

    return with_mask
