"""The small script behind the examples of instruments: healthy as it is, sick with a line or two changed."""

from dataclasses import dataclass

_SCRIPT = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(256, 8)
targets = (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    model.train()
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        logits = model(inputs[rows])
        loss = F.cross_entropy(logits, targets[rows])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(inputs).argmax(1) == targets).float().mean()
"""


@dataclass(frozen=True)
class Example:
    """A script on which an instrument must stay quiet, or must fire. A test runs it."""

    source: str
    ranks: int = 1


def example(*edits: tuple[str, str]) -> Example:
    """The script above with each `before` replaced by its `after`. Raises ValueError unless `before` occurs exactly once."""
    source = _SCRIPT
    for before, after in edits:
        if source.count(before) != 1:
            raise ValueError(f"{before!r} occurs {source.count(before)} times in the example, and must occur once")
        source = source.replace(before, after)
    return Example(source)
