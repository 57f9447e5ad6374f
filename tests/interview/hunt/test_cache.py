"""The follow-up that adds a key/value cache: equal tokens, each position once."""

from pathlib import Path

import pytest

from bugzoo.interview.hunt import desk, sitting

MODEL = """
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 16), nn.Embedding(32, 16)
        self.qkv, self.head = nn.Linear(16, 48), nn.Linear(16, 20)
    def forward(self, ids, cache=None):
        start = 0 if not cache else cache[0][0].shape[1]
        x = self.tokens(ids) + self.places(torch.arange(start, start + ids.shape[1]))
        q, k, v = self.qkv(x).chunk(3, -1)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0][0], k], 1), torch.cat([cache[0][1], v], 1)
            cache[:] = [(k, v)]
        scores = q @ k.transpose(1, 2) * 3
        late = torch.arange(k.shape[1])[None] > torch.arange(start, start + q.shape[1])[:, None]
        return self.head(scores.masked_fill(late, float("-inf")).softmax(-1) @ v)
model = Net()
metrics = {"loss": 1.0}
"""
GOOD = """
def generate(ids, count):
    cache, new, out = [], ids, []
    for _ in range(count):
        new = model(new, cache)[:, -1:].argmax(-1)
        out.append(new)
    return torch.cat(out, 1)
"""
WHOLE = GOOD.replace("return torch.cat(out, 1)", "return torch.cat([ids, *out], 1)")
PLAIN = """
def generate(ids, count):
    for _ in range(count):
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
    return ids
"""
STALE = GOOD.replace("cache, new, out = [], ids, []", "cache, new, out = kept, ids, []").replace(
    "def", "kept = []\ndef", 1
)
RESTART = MODEL.replace("torch.arange(start, start + ids.shape[1])", "torch.arange(ids.shape[1])")


@pytest.mark.parametrize(
    ("model", "write", "said"),
    [
        (MODEL, GOOD, ""),
        (MODEL, WHOLE, ""),
        (MODEL, "", "no function `generate(ids, count)`"),
        (MODEL, PLAIN, "positions went through the model"),
        (MODEL, STALE, "something else than without a cache"),
        (RESTART, GOOD, "something else than without a cache"),
        (MODEL, "def generate(ids, count):\n    return ids[:, :1]", "gives (2, 1)"),
        (MODEL, "def generate(ids, count):\n    raise ValueError('no')", "ValueError: no"),
    ],
)
def test_a_cache(quick, tmp_path: Path, model: str, write: str, said: str) -> None:
    folder = sitting.sit(quick, tmp_path / "desk")
    (folder / "train.py").write_text(model + write)
    found = desk.check_cache(folder)
    assert found["passed"] is (said == "") and said in found["saw"], found
