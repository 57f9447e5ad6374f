"""Attention of new queries to cached keys."""

import torch

from bugzoo.contracts.attention import SDPA, SDPA_PAGE, sdpa
from bugzoo.contracts.model import Call, Contract, Numbers


def _lengths(call: Call) -> Numbers | None:
    query, key = call["query"], call["key"]
    if not call["is_causal"] or not isinstance(query, torch.Tensor) or not isinstance(key, torch.Tensor):
        return None
    return {"queries": float(query.shape[-2]), "keys": float(key.shape[-2])}


CONTRACTS = (
    Contract(
        name="sdpa_causal_with_cache",
        on=(SDPA,),
        demand="`is_causal=True` counts from the first query and the first key: query i sees the keys up to i.",
        given="There are {queries:.0f} queries and {keys:.0f} keys: the last query sees only the first {queries:.0f} keys.",
        instead="Drop `is_causal` for one new query, or pass a mask that counts from the end: `.tril(keys - queries)`.",
        page=SDPA_PAGE,
        kind="shape",
        measure=_lengths,
        broken=lambda numbers: numbers["queries"] < numbers["keys"],
        breaks="k = torch.randn(1, 2, 5, 4)\nF.scaled_dot_product_attention(k[:, :, -1:], k, k, is_causal=True)",
        keeps=(
            "k = torch.randn(1, 2, 5, 4)\n"
            "F.scaled_dot_product_attention(k, k, k, is_causal=True)\n"
            "F.scaled_dot_product_attention(k[:, :, -1:], k, k)\n"
            "F.scaled_dot_product_attention(k[:, :, :1], k[:, :, :1], k[:, :, :1], is_causal=True)"
        ),
        wrong="Later keys are to stay unseen.",
        explains=("by itself",),
        like=sdpa,
    ),
)
