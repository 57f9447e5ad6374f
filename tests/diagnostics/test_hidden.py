"""A leak through attention: the mask is blamed where weights lie on what is hidden, else the place where axes are mixed up."""

import pytest

from bugzoo.diagnostics import dependency
from bugzoo.running import run_here

WEIGHTS = (
    "scores = (q @ k.transpose(-2, -1) / 4 ** 0.5).masked_fill(mask, -1e9)\n        heads = scores.softmax(-1) @ v"
)
FUSED = "heads = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=~mask)"
LATER = "mask = torch.ones(time, time, dtype=torch.bool).triu(1)"
PADDED = "mask = (x == 0)[:, None, None]"
INVERTED = "mask = ~mask"
CUT = "q, k, v = self.all(seen).view(size, time, 3, 2, 4).permute(2, 0, 3, 1, 4)"
MIXED = "q, k, v = self.all(seen).view(size, 3, 2, time, 4).transpose(0, 1)"
JOINED, RENAMED = "heads.transpose(1, 2).reshape(size, time, 8)", "heads.reshape(size, time, 8)"

SCRIPT = f"""\
import torch
from torch import nn
torch.manual_seed(0)
tokens = torch.randint(1, 12, (64, 13))
WORDS

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(12, 8), nn.Embedding(13, 8)
        self.all, self.out, self.head = nn.Linear(8, 24), nn.Linear(8, 8), nn.Linear(8, 12)

    def forward(self, x):
        size, time = x.shape
        seen = self.embed(x) + self.place.weight[:time]
        {LATER}
        {CUT}
        {WEIGHTS}
        seen = seen + self.out({JOINED})
        return self.head(POOLED)

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    rows = torch.randperm(64)[:16]
    loss = nn.functional.cross_entropy(net(inputs[rows]).flatten(0, -2), targets[rows].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NEXT = {"WORDS": "inputs, targets = tokens[:, :-1], tokens[:, 1:]", "POOLED": "seen"}
TEXT = {
    "WORDS": "inputs = tokens * (torch.arange(13) < torch.randint(4, 13, (64, 1)))\ntargets = (inputs[:, 0] > 5).long()",
    "POOLED": "(seen * (x != 0)[..., None]).sum(1) / (x != 0).sum(1, keepdim=True)",
    LATER: PADDED,
}


def suspects(*edits):
    """Causes that `dependency` names, the first one first, and its evidence."""
    script = SCRIPT
    for edit in edits:
        for before, after in edit.items():
            assert before in script
            script = script.replace(before, after)
    verdict = dependency.judge(dependency.measure(run_here(script, file="asked.py")))
    return [suspect.cause for suspect in verdict.suspects], verdict.message


@pytest.mark.parametrize("way", [{}, {WEIGHTS: FUSED}], ids=["by hand", "whole"])
@pytest.mark.parametrize("task", [NEXT, TEXT], ids=["next token", "padded text"])
@pytest.mark.parametrize(
    ("edit", "cause"),
    [
        ({}, None),
        ({CUT: f"{INVERTED}\n        {CUT}"}, "attention/mask_inverted"),
        ({CUT: MIXED}, "attention/heads_mixed"),
        ({JOINED: RENAMED}, "shape/view_instead_of_permute"),
    ],
)
def test_what_lets_hidden_tokens_through_is_told_by_where_the_weights_lie(way, task, edit, cause):
    named, evidence = suspects(task, edit, way)
    assert named[:1] == ([cause] if cause else []), evidence
    assert cause == "attention/mask_inverted" or "attention/mask_inverted" not in named


def test_a_mask_that_is_missing_is_not_called_inverted():
    assert suspects(NEXT, {LATER: "mask = torch.zeros(1, 1, dtype=torch.bool)"})[0] == ["attention/causal_mask_missing"]
    causes, evidence = suspects(TEXT, {PADDED: "mask = torch.zeros(1, 1, dtype=torch.bool)"})
    assert causes == ["attention/mask_inverted"] and "attention sees the padding" in evidence


def test_an_average_over_the_padding_is_not_blamed_on_the_attention():
    causes, evidence = suspects(TEXT, {TEXT["POOLED"]: "seen.mean(1)"})
    assert causes == ["recurrent/padding_read_as_text"] and "no word's own vector moves" in evidence
