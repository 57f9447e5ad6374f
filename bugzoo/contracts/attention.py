"""Attention: which way round its masks are, and dropout that is always on."""

from collections.abc import Callable
from typing import Any

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

SDPA = "torch.nn.functional.scaled_dot_product_attention"
_MHA = "torch.nn.functional.multi_head_attention_forward"
SDPA_PAGE = PAGES + "generated/torch.nn.functional.scaled_dot_product_attention.html"
_MHA_PAGE = PAGES + "generated/torch.nn.MultiheadAttention.html"
FLOOR, STUCK, NAN = "loss falls little", "nothing learned", "loss not finite"


def sdpa(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """The parameters of `F.scaled_dot_product_attention`, which is a function in C."""


def _kept(call: Call, name: str) -> torch.Tensor | None:
    """Return True where a query sees a key. None without a mask, or with one that only adds to the scores."""
    if call[name] is None:
        return None
    mask = call.tensor(name)
    if mask.dtype == torch.bool:
        return mask if call.target == SDPA else ~mask
    return ~mask.isneginf()


def _backward(call: Call) -> Numbers | None:
    """How much of the past and of the future a square mask keeps."""
    mask = _kept(call, "attn_mask")
    if mask is None or mask.ndim < 2 or mask.shape[-1] != mask.shape[-2] or mask.shape[-1] < 2:
        return None
    return {"past": mask.tril().sum(), "future": mask.triu(1).sum(), "length": float(mask.shape[-1])}


def _layout(call: Call) -> Numbers | None:
    """Look whether the masks of a 3-D mask are equal head by head, or sample by sample as after `mask.repeat(heads, 1, 1)`."""
    mask, heads = call["attn_mask"], int(call["num_heads"])
    if mask is None or mask.ndim != 3 or heads < 2 or len(mask) % heads or len(mask) == heads:
        return None
    mask = call.tensor("attn_mask")
    right, turned = mask.view(-1, heads, *mask.shape[1:]), mask.view(heads, -1, *mask.shape[1:])
    return {
        "right": (right == right[:, :1]).all().double(),
        "turned": (turned == turned[:1]).all().double(),
        "samples": float(len(right)),
        "heads": float(heads),
    }


def _without_keys(name: str) -> Callable[[Call], Numbers | None]:
    """Samples in which no query sees any key."""

    def measure(call: Call) -> Numbers | None:
        mask = _kept(call, name)
        if mask is None:
            return None
        if name == "attn_mask":
            mask = mask.reshape(-1, mask.shape[-2] * mask.shape[-1]) if mask.ndim > 1 else mask[None]
        rows = mask.reshape(-1, mask.shape[-1])
        return {"none": (~rows.any(-1)).sum(), "rows": float(len(rows))}

    return measure


def _zeros_and_ones(*names: str) -> Callable[[Call], Numbers | None]:
    """Numbers of a float mask that is nothing but zeros and ones."""

    def measure(call: Call) -> Numbers | None:
        for name in names:
            if call[name] is not None and (mask := call.tensor(name)).is_floating_point():
                ones, zeros = (mask == 1).sum(), (mask == 0).sum()
                return {"ones": ones, "zeros": zeros, "all": float(mask.numel())}
        return None

    return measure


def _only_those(numbers: Numbers) -> bool:
    return numbers["ones"] > 0 and numbers["zeros"] > 0 and numbers["ones"] + numbers["zeros"] == numbers["all"]


def _dropout_in_eval(call: Call) -> Numbers | None:
    if not call["dropout_p"] or (owner := call.owner()) is None or not torch.is_tensor(call["query"]):
        return None
    return {"p": float(call["dropout_p"]), "owner": type(owner).__name__, "training": float(owner.training)}


_SETUP = "q = k = v = torch.randn(2, 1, 3, 4)\npad = torch.tensor([[False, False, True], [False, False, False]])\n"
_MODULE = _SETUP + "x = torch.randn(2, 3, 4)\nmha = nn.MultiheadAttention(4, 2, batch_first=True)\n"
CONTRACTS = (
    Contract(
        name="sdpa_causal_mask",
        on=(SDPA,),
        demand=(
            "In a bool mask of `scaled_dot_product_attention`, True keeps a key. In `nn.MultiheadAttention`, "
            "True masks it."
        ),
        given="The mask of {length:.0f} positions keeps {past:.0f} pairs of the past and {future:.0f} of the future.",
        instead="Pass `torch.ones(n, n, dtype=torch.bool).tril()`, or `is_causal=True` without a mask.",
        page=SDPA_PAGE,
        kind="convention",
        measure=_backward,
        broken=lambda numbers: numbers["past"] == 0 and numbers["future"] > 0,
        breaks=_SETUP + "F.scaled_dot_product_attention(q, k, v, torch.ones(3, 3, dtype=torch.bool).triu(1))",
        keeps=_SETUP
        + "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(3, 3, dtype=torch.bool).tril())\n"
        + "F.scaled_dot_product_attention(q, k, v, torch.ones(3, 3, dtype=torch.bool).triu())\n"
        + "F.scaled_dot_product_attention(q, k, v, nn.Transformer.generate_square_subsequent_mask(3))",
        wrong="A model that reads from the end, and must not see the present position.",
        explains=("by itself",),
        causes=("attention/mask_inverted",),
        like=sdpa,
    ),
    Contract(
        name="mha_causal_mask",
        on=(_MHA,),
        demand=(
            "In a bool mask of `nn.MultiheadAttention`, True masks a key. In `scaled_dot_product_attention`, "
            "True keeps it."
        ),
        given="The mask of {length:.0f} positions keeps {past:.0f} pairs of the past and {future:.0f} of the future.",
        instead="Pass `nn.Transformer.generate_square_subsequent_mask(n)`, or `torch.ones(n, n, dtype=torch.bool).triu(1)`.",
        page=_MHA_PAGE,
        kind="convention",
        measure=_backward,
        broken=lambda numbers: numbers["past"] == 0 and numbers["future"] > 0,
        breaks=_MODULE + "mha(x, x, x, attn_mask=torch.ones(3, 3, dtype=torch.bool).tril())",
        keeps=_MODULE
        + "layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)\n"
        + "layer(x, src_mask=nn.Transformer.generate_square_subsequent_mask(3))\n"
        + "mha(x, x, x, attn_mask=torch.eye(3, dtype=torch.bool))\n"
        + "mha(x, x, x, attn_mask=torch.ones(3, 3, dtype=torch.bool).triu(1), is_causal=True, need_weights=False)",
        wrong="A model that reads from the end, and must not see the present position.",
        explains=("by itself",),
        causes=("attention/mask_inverted",),
    ),
    Contract(
        name="mha_mask_of_each_head",
        on=(_MHA,),
        demand="A 3-D `attn_mask` has the heads of the first sample first: entry `sample * num_heads + head`.",
        given="Its {heads:.0f} x {samples:.0f} masks repeat after {samples:.0f} entries, so that samples get masks of others.",
        instead="Write `mask.repeat_interleave(num_heads, dim=0)`.",
        page=_MHA_PAGE,
        kind="shape",
        measure=_layout,
        broken=lambda numbers: numbers["turned"] > 0 and not numbers["right"],
        breaks=_MODULE
        + "some, xs = torch.randn(6, 3, 3), torch.cat([x, x, x])\nmha(xs, xs, xs, attn_mask=some.repeat(2, 1, 1))",
        keeps=_MODULE
        + "some = torch.randn(6, 3, 3)\nxs = torch.cat([x, x, x])\n"
        + "mha(xs, xs, xs, attn_mask=some.repeat_interleave(2, dim=0))\n"
        + "mha(xs, xs, xs, attn_mask=torch.randn(12, 3, 3))\nmha(xs, xs, xs, attn_mask=some[:1].repeat(12, 1, 1))",
        wrong="No case is known.",
        explains=("by itself",),
    ),
    Contract(
        name="sdpa_padding_mask",
        on=(SDPA,),
        demand="In a bool mask of `scaled_dot_product_attention`, True keeps a key. A sample without any key gets zeros.",
        given="{none:.0f} of {rows:.0f} samples have no key that is kept.",
        instead="Pass True for tokens and False for padding: `attn_mask=~padding[:, None, None, :]`.",
        page=SDPA_PAGE,
        kind="convention",
        measure=_without_keys("attn_mask"),
        broken=lambda numbers: numbers["none"] > 0,
        breaks=_SETUP + "F.scaled_dot_product_attention(q, k, v, attn_mask=pad[:, None, None, :])",
        keeps=_SETUP
        + "F.scaled_dot_product_attention(q, k, v, attn_mask=~pad[:, None, None, :])\n"
        + "left = torch.tensor([[False, True, True]])[:, None, None, :] & torch.ones(3, 3, dtype=torch.bool).tril()\n"
        + "F.scaled_dot_product_attention(q, k, v, attn_mask=left)",
        wrong="Empty sequences in a batch, of which the outputs are not used.",
        explains=(FLOOR, STUCK, NAN),
        causes=("attention/mask_inverted", "numerics/all_masked_row"),
        like=sdpa,
    ),
    Contract(
        name="mha_padding_mask",
        on=(_MHA,),
        demand="In `key_padding_mask`, True masks a key as padding. A sample without any key left gets NaN or zeros.",
        given="{none:.0f} of {rows:.0f} samples have no key left.",
        instead="Pass True for padding and False for tokens: `key_padding_mask=tokens == pad`.",
        page=_MHA_PAGE,
        kind="convention",
        measure=_without_keys("key_padding_mask"),
        broken=lambda numbers: numbers["none"] > 0,
        breaks=_MODULE + "mha(x, x, x, key_padding_mask=~pad)",
        keeps=_MODULE + "mha(x, x, x, key_padding_mask=pad)\nmha(x, x, x, pad.float() * -1e9)",
        wrong="Empty sequences in a batch, of which the outputs are not used.",
        explains=(NAN, FLOOR, STUCK),
        causes=("attention/mask_inverted", "numerics/all_masked_row"),
    ),
    Contract(
        name="sdpa_float_mask",
        on=(SDPA,),
        demand="`scaled_dot_product_attention` adds a float mask to the scores: what is to be masked is `-inf`, the rest 0.",
        given="The mask is {ones:.0f} ones and {zeros:.0f} zeros, which masks nothing.",
        instead="Pass a bool mask, `mask.bool()`, with True for what is kept.",
        page=SDPA_PAGE,
        kind="convention",
        measure=_zeros_and_ones("attn_mask"),
        broken=_only_those,
        breaks=_SETUP + "F.scaled_dot_product_attention(q, k, v, torch.ones(3, 3).tril())",
        keeps=_SETUP
        + "F.scaled_dot_product_attention(q, k, v, torch.zeros(3, 3))\n"
        + "F.scaled_dot_product_attention(q, k, v, torch.ones(3, 3).tril().bool())\n"
        + "F.scaled_dot_product_attention(q, k, v, -(torch.arange(3)[:, None] - torch.arange(3)).abs().float())",
        wrong="A bias of 0 and 1 on the scores that is meant as such.",
        explains=("by itself",),
        like=sdpa,
    ),
    Contract(
        name="mha_float_mask",
        on=(_MHA,),
        demand="`nn.MultiheadAttention` adds a float mask to the scores: what is to be masked is `-inf`, the rest 0.",
        given="The mask is {ones:.0f} ones and {zeros:.0f} zeros, which masks nothing.",
        instead="Pass a bool mask, `mask.bool()`, with True for what is masked.",
        page=_MHA_PAGE,
        kind="convention",
        measure=_zeros_and_ones("key_padding_mask", "attn_mask"),
        broken=_only_those,
        breaks=_MODULE + "mha(x, x, x, key_padding_mask=pad.float())",
        keeps=_MODULE
        + "mha(x, x, x, key_padding_mask=pad)\n"
        + "mha(x, x, x, attn_mask=nn.Transformer.generate_square_subsequent_mask(3))",
        wrong="A bias of 0 and 1 on the scores that is meant as such.",
        explains=("by itself",),
    ),
    Contract(
        name="sdpa_dropout_in_eval",
        on=(SDPA,),
        demand="`scaled_dot_product_attention` always drops with `dropout_p`, in eval mode, too.",
        given="`dropout_p` is {p:.3g} in a {owner} that is in eval mode.",
        instead="Pass `dropout_p=self.p if self.training else 0.0`.",
        page=SDPA_PAGE,
        kind="mode",
        measure=_dropout_in_eval,
        broken=lambda numbers: not numbers["training"],
        breaks=(
            "class Attention(nn.Module):\n"
            "    def forward(self, x):\n"
            "        return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)\n"
            "Attention().eval()(torch.randn(2, 1, 3, 4))"
        ),
        keeps=(
            "class Attention(nn.Module):\n"
            "    def forward(self, x):\n"
            "        return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1 if self.training else 0.0)\n"
            "Attention()(torch.randn(2, 1, 3, 4))\n"
            "Attention().eval()(torch.randn(2, 1, 3, 4))\n"
            "F.scaled_dot_product_attention(*torch.randn(3, 2, 1, 3, 4), dropout_p=0.1)"
        ),
        wrong="Several outputs are drawn on purpose, as in Monte Carlo dropout.",
        explains=("by itself",),
        like=sdpa,
    ),
)
