"""What a judge reads is measured: by a real run of the instrument's own scripts, or of one of three more."""

import ast
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from bugzoo import diagnostics
from bugzoo.diagnostics._example import Example, example
from bugzoo.diagnostics.numbers import Measured
from bugzoo.running import Job, Run, run_here, run_worker

pytestmark = pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")

STILL = example(("optimizer.step()", "pass"))
INSIDE = example(
    ("model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))", """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.Linear(8, 32), nn.Linear(32, 3)

    def forward(self, inputs):
        hidden = F.dropout(self.layer(inputs).relu(), 0.5)
        return self.head(hidden).softmax(-1)


model = Net()
"""))  # fmt: skip
"""A softmax and a dropout that stand in the model's own lines."""
TOKENS = Example("""
import torch
import torch.nn.functional as F
from torch import nn


torch.manual_seed(0)
lengths = torch.randint(6, 12, (64, 1))
tokens = torch.randint(1, 9, (64, 13)) * (torch.arange(13) < lengths)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(9, 16), nn.Linear(16, 9)

    def forward(self, inputs):
        hidden = self.embedding(inputs)
        weights = (hidden @ hidden.transpose(1, 2)).softmax(-1)
        return self.head(weights @ hidden)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for rows in torch.arange(64).repeat(4).split(16):
    optimizer.zero_grad()
    logits = model(tokens[rows, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[rows, 1:].flatten())
    loss.backward()
    optimizer.step()
""")
"""Padded sequences, each token of which is to tell the next."""
ASKING = """\
def asking(x):
    if x.max() > 1e9:
        raise ValueError
    return model(x)


compiled = torch.compile(asking, backend="eager")
optimizer = torch"""
MORE = {
    "compiled_graphs": [example(("optimizer = torch", ASKING), ("logits = model(", "logits = compiled("))],
    "fresh_gradient": [STILL], "double_normalisation": [INSIDE], "mode_watch": [INSIDE], "dependency": [TOKENS],
    "activation_stats": [example(("nn.ReLU()", "nn.Tanh()"))],
}  # fmt: skip


@cache  # most instruments are quiet on one and the same script
def run_of(example: Example) -> Run:
    if example.ranks == 1:
        return run_here(example.source, file="example.py")
    return run_worker(Job(example.source, file="example.py", ranks=example.ranks))


def written(name: str) -> Iterator[set[str]]:
    """Keys that `read` gives on real runs, one run after the other."""
    module = diagnostics.instrument(name)
    for case in (module.SICK, module.HEALTHY, *chain(*getattr(module, "FURTHER", ())), *MORE.get(name, ())):
        reading = diagnostics.read(name, run_of(case))
        yield set(reading.numbers) if reading.applies else set()


def read_in(text: str) -> set[str]:
    """Keys that functions with `numbers` as an argument read: numbers.a, but no method of the record."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return {
        node.attr
        for function in functions
        if "numbers" in [argument.arg for argument in function.args.args]
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "numbers"
        if not hasattr(Measured, node.attr)
    }


def unwritten(name: str, keys: set[str]) -> set[str]:
    """What the judge of an instrument reads, by its text and when it is asked about these keys, and no run wrote."""
    module = diagnostics.instrument(name)
    file = module.__file__
    assert file
    return read_in(Path(file).read_text(encoding="utf-8")) - keys


@pytest.mark.sampled(12)
@pytest.mark.slow
@pytest.mark.parametrize("name", diagnostics.names())
def test_every_key_that_a_judge_reads_is_measured_by_a_real_run(name):
    all_keys: set[str] = set()
    for keys in written(name):
        all_keys |= keys
        if not unwritten(name, all_keys):  # some runs take seconds
            return
    assert unwritten(name, all_keys) == set()


def test_a_key_that_no_run_writes_is_seen():
    text = "def judge(numbers):\n    return Verdict(numbers.rows, numbers.more or 0.0, numbers.labeled())\n"
    assert read_in(text) == {"rows", "more"}
