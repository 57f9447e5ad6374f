"""Listening: which calls are looked at, what steps aside, and that nothing of the script's changes."""

import subprocess
import sys
import threading
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from bugzoo.contracts import contract
from bugzoo.contracts.observe import EACH, FIRST, due
from bugzoo.contracts.patching import by_target, resolve
from bugzoo.watching import watch
from tests.contracts.listening import listened, ran

KL = "contracts/kl_div_input"


def names(found) -> set[str]:
    return {finding.contract for finding in found}


def test_first_calls_then_powers_of_two_then_each_1024th():
    looked = [count for count in range(1, 5 * EACH) if due(count)]
    assert looked[:7] == [1, 2, 3, FIRST, 8, 16, 32] and looked[-4:] == [EACH, 2 * EACH, 3 * EACH, 4 * EACH]


def test_a_breach_that_begins_late_is_found():
    text = (
        "P = torch.tensor([[0.6, 0.4]])\nfor i in range(1100):\n    F.kl_div(P - 1 + (i >= 1000), P, reduction='sum')"
    )
    findings, _ = ran(text)
    assert names(findings) == {KL} and findings[0].line == 3 and findings[0].broken == 1 < findings[0].seen


@pytest.mark.parametrize(
    "call",
    [
        "F.kl_div(P, P, reduction='batchmean')",
        "F.kl_div(target=P, input=P, reduction='batchmean')",
        "nn.KLDivLoss(reduction='batchmean')(P, P)",
        "torch.nn.functional.kl_div(P, P, None, None, 'batchmean')",
        "class Mine(nn.KLDivLoss): pass\nMine(reduction='batchmean')(P, P)",
        "def loss(p): return F.kl_div(p, P, reduction='batchmean')\nloss(P)",
    ],
)
def test_every_way_of_calling_is_heard(call):
    findings, _ = ran(f"P = torch.tensor([[0.6, 0.4]])\n{call}")
    assert names(findings) == {KL} and findings[0].numbers == {"largest": pytest.approx(0.6)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("F.kl_div(torch.empty(0, 3), torch.empty(0, 3), reduction='sum')", "empty"),
        ("F.kl_div(torch.rand(2, 3, device='meta'), torch.rand(2, 3, device='meta'), reduction='sum')", "dense"),
        (
            "class T(torch.Tensor): pass\nF.kl_div(torch.rand(2, 3).as_subclass(T), torch.rand(2, 3), reduction='sum')",
            "is a T",
        ),
        ("try:\n    F.kl_div('words', 1)\nexcept Exception:\n    pass", "is a str"),
    ],
)
def test_what_cannot_be_judged_steps_aside(text, why):
    findings, aside = ran(text)
    assert not findings and why in aside[KL]


def test_a_dataset_is_heard_while_its_loader_is_looked_at():
    text = (
        "P = torch.tensor([0.6, 0.4])\nclass Rows:\n    def __len__(self): return 2\n"
        "    def __getitem__(self, index): return F.kl_div(P, P, reduction='sum')\n"
        "for row in torch.utils.data.DataLoader(Rows()): pass"
    )
    assert any(target.endswith("DataLoaderIter.__next__") for target in by_target())
    findings, _ = ran(text)
    assert names(findings) == {KL} and findings[0].line == 4 and findings[0].seen == 2


def test_a_mask_apart_from_its_image_is_seen_in_both_generations_of_transforms():
    text = (
        "from torchvision import transforms, tv_tensors\nfrom torchvision.transforms import v2\nmove = {}(4)\n"
        "class Pairs:\n    def __len__(self): return 3\n    def __getitem__(self, index):\n"
        "        image, mask = torch.rand(3, 8, 8), torch.randint(3, (1, 8, 8))\n        {}\n"
        "for pair in torch.utils.data.DataLoader(Pairs()): pass"
    )
    for name, line, there in (
        ("transforms.RandomCrop", "return move(image), move(mask)", True),
        ("v2.RandomCrop", "return move(image), move(mask)", True),
        ("v2.RandomCrop", "return move(image, tv_tensors.Mask(mask))", False),
        ("v2.RandomCrop", "return move(image), move(image)", False),
    ):
        findings, _ = ran(text.format(name, line))
        assert names(findings) == ({"contracts/image_and_mask_apart"} if there else set()), line


def test_a_function_of_the_scripts_own_is_left_alone():
    findings, aside = ran("F.kl_div = lambda *a: 3\nassert F.kl_div(torch.rand(2), torch.rand(2)) == 3")
    assert not findings and not aside
    original = F.kl_div
    try:
        with watch() as trace:
            F.kl_div = replacement = lambda *a, **k: 3
        assert F.kl_div is replacement and not trace.findings
    finally:
        F.kl_div = original


def test_a_comment_with_a_reason_silences_one_contract_at_its_line():
    text = "P = torch.tensor([[0.6, 0.4]])\n"
    for comment in ("ok kl_div_input a density", "ok kl_div_input"):
        text += f"F.kl_div(P, P, reduction='sum')  # bugzoo: {comment}\n"
    first, other = sorted(ran(text)[0], key=lambda finding: finding.line)
    assert first.silenced == "a density" and other.silenced == ""


def test_in_a_watch_the_run_stays_bit_equal_and_the_finding_has_file_line_and_step():
    def train(watched: bool):
        torch.manual_seed(0)
        model, losses = nn.Linear(3, 3), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(6):
            optimizer.zero_grad()
            input = model(torch.randn(4, 3)).softmax(-1) if step > 2 else model(torch.randn(4, 3)).log_softmax(-1)
            loss = F.kl_div(input, torch.full((4, 3), 1 / 3), reduction="batchmean")
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, torch.get_rng_state().tolist()

    with watch() as trace:
        inside = train(True)
    assert inside == train(False)
    [finding] = trace.findings
    assert (finding.contract, finding.file, finding.step) == (KL, __file__, 4) and finding.numbers["largest"] <= 1
    with watch(contracts=False) as trace:
        train(True)
    assert not trace.findings


def test_other_threads_are_heard_or_ignored_and_a_compiled_region_is_whole():
    P = torch.tensor([[0.6, 0.4]])

    def work():
        threads = [
            threading.Thread(target=lambda: [F.kl_div(P, P, reduction="sum") for _ in range(50)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert names(listened(work)[0]) == {KL}
    assert not listened(work, foreign=lambda: True)[0]

    def compiled():
        function = torch.compile(lambda p: F.kl_div(p, P, reduction="sum"), backend="eager", fullgraph=True)
        assert function(P) == F.kl_div(P, P, reduction="sum")

    assert "watch_errors" not in listened(compiled)[1]


def test_a_trace_keeps_its_findings(tmp_path):
    from bugzoo.watching.trace import Trace

    with watch() as trace:
        F.kl_div(torch.tensor([[0.6, 0.4]]), torch.tensor([[0.6, 0.4]]), reduction="sum")
    assert trace.findings and Trace.load(trace.save(tmp_path / "t.npz")).findings == trace.findings


def test_a_call_knows_its_owner_what_was_given_and_other_calls_of_the_run():
    calls = []

    def measure(call):
        owner = call.owner()
        calls.append((call.target[-8:], type(owner).__name__, sorted(call.given), call.direct(), len(call.shared)))
        call.shared[len(call.shared)] = call.site = call.shared.get(0, call.site)

    names_of = ("torch.nn.functional.dropout", "torch.nn.functional.softmax")
    spy = replace(contract("kl_div_input"), on=names_of, measure=lambda call: measure(call) or {"largest": 1.0})

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(me, x):  # whatever its first argument is called
            return F.softmax(me.drop(F.dropout(x, 0.5)), dim=0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bugzoo.contracts.patching.contracts", lambda: {spy.id: spy})
        findings, aside = listened(lambda: Net()(torch.ones(2)))
    assert not aside and calls == [
        (".dropout", "Net", ["input", "p"], True, 0),
        (".dropout", "NoneType", ["inplace", "input", "p", "training"], False, 1),
        (".softmax", "Net", ["_stacklevel", "dim", "input"][1:], True, 2),
    ]
    assert len(findings) == 1 and findings[0].broken == 3, "each gave the place of the first"


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_torch_compile_may_be_loaded_while_calls_are_listened_to():
    """It registers classes and functions of Python's own library by what they are."""
    text = (
        "import random, sys\nimport numpy, sklearn.utils, torch\nfrom bugzoo.contracts.observe import Observer\n"
        "assert 'torch._dynamo' not in sys.modules\nObserver([]).install(setattr)\n"
        "print(torch.compile(lambda x: 2 * x, backend='eager')(torch.ones(2)).sum().item())"
    )
    process = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert process.stdout == "4.0\n", process.stderr[-2000:]


def test_torch_jit_and_compile_see_through_listeners_of_c_functions_and_methods():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(4, 4)

        def forward(self, x):
            x = self.lstm(x)[0]
            return F.scaled_dot_product_attention(x, x, x)

    def work():
        x = torch.ones(2, 3, 4)
        net = Net()
        want = net(x)
        assert torch.equal(torch.jit.script(net)(x), want)
        assert torch.equal(torch.compile(net, backend="eager")(x), want)

    from torch.jit._builtins import _find_builtin, _get_builtin_table

    table = _get_builtin_table()
    before, operators = set(table), {_find_builtin(getattr(*place)) for place in map(resolve, by_target()) if place}
    assert listened(work) == ([], {})
    assert not {table[key] for key in table if key not in before} & operators - {None}  # a compilation registers others
