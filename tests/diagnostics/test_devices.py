"""A crash over devices is told with the tensors that met, their devices, and the lines that put them there."""

import pytest

from bugzoo.diagnostics import crash, instrument
from bugzoo.running import Job, Limits, run_here, run_worker
from bugzoo.scenario import Scenario, with_settings

SCRIPT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)
        self.shift = torch.zeros(3)

    def forward(self, inputs):
        return self.head(self.layer(inputs).relu()) + self.shift


model = Net()
weights = torch.ones(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, targets in [(torch.randn(4, 8), torch.arange(4) % 3)] * 3:
    optimizer.zero_grad()
    logits = model(inputs)
    loss = nn.functional.cross_entropy(logits, targets, weights)
    loss.backward()
    optimizer.step()
"""
CASES = {
    "the batch": ("model = Net()", 'model = Net().to_empty(device="meta")\nmodel.shift = model.shift.to("meta")'),
    "a tensor of the model": ("torch.zeros(3)", 'torch.zeros(3, device="meta")'),
    "a tensor of the loss": ("torch.ones(3)", 'torch.ones(3, device="meta")'),
    "one layer": ("nn.Linear(16, 3)", 'nn.Linear(16, 3, device="meta")'),
}
SAID = {
    "the batch": ("device/batch_left_on_cpu", "inputs on cpu (line 20), but the weights are on meta"),
    "a tensor of the model": (
        "device/tensor_created_on_default_device",
        "shift on meta (line 10), but the weights are on cpu",
    ),
    "a tensor of the loss": ("device/tensor_created_on_default_device", "weights on meta (line 17)"),
    "one layer": ("device/half_on_cpu_half_on_gpu", "layer.weight on cpu (line 16), head.weight on meta (line 16)"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_tensor_is_told_with_its_device_and_its_line(name):
    before, after = CASES[name]
    assert SCRIPT.count(before) == 1
    run = run_here(SCRIPT.replace(before, after), "train.py")
    verdict = crash.judge(crash.measure(run))
    cause, text = SAID[name]
    assert verdict.suspects[0].cause == cause and text in verdict.message, verdict.message
    assert verdict.suspects[0].line


@pytest.mark.parametrize(
    "message",
    [
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors on cuda:0",
        "Tensor on device cpu is not on the expected device meta!",
        "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at cuda:0",
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
        "Cannot copy out of meta tensor; no data!",
    ],
)
def test_what_torch_says_of_devices_is_known(message):
    numbers = {
        "outcome": "crashed",
        "steps": 0.0,
        "type": "RuntimeError",
        "message": message,
        "file": "a.py",
        "line": 3,
        "told": [],
        "in_step": 0.0,
        "devices": 0.0,
    }
    assert instrument("crash").judge(numbers).suspects[0].cause.startswith("device/")


def test_a_shape_is_no_device():
    run = run_here(SCRIPT.replace("nn.Linear(16, 3)", "nn.Linear(15, 3)"), "train.py")
    assert crash.judge(crash.measure(run)).suspects[0].cause == "shape/shape_mismatch_deep"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_step_that_does_not_fit_is_no_batch_that_does_not_fit():
    """The same limit, and two places: Adam's means in the one, the activations in the other."""
    state = Scenario("mlp", ("memory/optimizer_state_ignored",))
    batch = Scenario("mini_transformer", ("memory/batch_too_large",))
    outcomes = {}
    for case in (state, batch):
        numbers = crash.measure(run_worker(case.job()))
        outcomes[case.program] = numbers["outcome"], numbers["in_step"], crash.judge(numbers).suspects[0].cause
    assert outcomes["mlp"] == ("out_of_memory", 1.0, "memory/optimizer_state_ignored")
    assert outcomes["mini_transformer"] == ("out_of_memory", 0.0, "memory/batch_too_large")


@pytest.mark.slow
def test_one_forward_and_backward_pass_of_it_fit():
    """What fails at the step fits without it, and with an optimiser that keeps nothing."""
    case = Scenario("mlp", ("memory/optimizer_state_ignored",))
    plain = case.source.replace("torch.optim.Adam(", "torch.optim.SGD(")
    short = with_settings(plain, {"epochs": 1}, "mlp").replace("losses.append(loss.item())", "break")
    limits = Limits(seconds=60, memory_mib=case.needs.memory_mib)
    assert run_worker(Job(short, file="mlp.py", limits=limits)).outcome == "finished"


def test_an_activation_that_goes_to_another_device_and_stays_is_counted():
    """'meta' stands for the GPU: what is moved there within the model counts, and what is moved before it does not."""
    from bugzoo.diagnostics._example import example

    asks = instrument("transfers")
    inside = example(
        (
            "model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))",
            "model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))\n"
            'model[1].register_forward_hook(lambda module, given, found: found.to("meta") is None or None)',
        )
    )
    assert asks.measure(run_here(inside.source, "train.py"))["inside"] == 1.0
    assert asks.measure(run_here(asks.HEALTHY.source, "train.py")).measured() == {"batch_copies": 0.0, "inside": 0.0}


@pytest.mark.parametrize(
    "lines, copies",
    [
        ("left, right = inputs[rows], inputs[rows] + 0\n        left, right = left.clone(), right.clone()", 1.0),
        ("left = inputs[rows].clone()\n        left, right = left.clone(), left[1:].clone()", 2.0),
        ("left = inputs[rows]\n        left, right = left.clone(), left.clone()", 2.0),
        ("left = inputs[rows].clone().clone().clone()", 3.0),
    ],
    ids=["inputs and targets", "a copy of a copy", "one tensor twice", "three in a row"],
)
def test_copies_of_the_same_numbers_are_counted(lines, copies):
    """A language model's inputs and targets are as large as each other; moving both to a GPU is one copy of the batch."""
    from bugzoo.diagnostics._example import example

    source = example(("logits = model(inputs[rows])", f"{lines}\n        logits = model(left)")).source
    assert instrument("transfers").measure(run_here(source, "train.py"))["batch_copies"] == copies
