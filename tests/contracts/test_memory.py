"""What contracts remember: one object at two calls, what is judged at the end, and results that are thrown away."""

import gc
import weakref

import pytest
import torch
from torch import nn
from torch.optim import optimizer as optimizers

from bugzoo.contracts.memory import MOST, Memory
from bugzoo.contracts.model import Aside
from bugzoo.watching import watch
from tests.contracts.listening import listened, ran


class Thing:
    pass


def names(found) -> set[str]:
    return {finding.contract for finding in found}


def test_notes_of_an_object_are_the_same_at_all_calls_and_end_with_it():
    memory, thing = Memory(), Thing()
    memory.about("a", thing, ("here", 1), 1)["seen"] = 1
    assert memory.about("a", thing, ("there", 2), 5) == {"seen": 1} and memory.about("b", thing, ("there", 2), 5) == {}
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None, "no object is kept alive"
    [entry] = memory.everything("a")
    assert entry.notes == {"seen": 1} and entry.site == ("here", 1) and entry.step == 1
    with pytest.raises(Aside, match="list"):
        memory.about("a", [], None, 1)
    things = [Thing() for _ in range(MOST + 1)]
    with pytest.raises(Aside, match="more than"):
        for owner in things:
            memory.about("c", owner, None, 1)


def test_another_object_at_the_same_address_has_notes_of_its_own():
    memory = Memory()
    for _ in range(50):
        notes = memory.about("a", Thing(), None, 1)
        assert notes == {}
        notes["seen"] = 1


def test_a_schedule_that_is_gone_is_judged_at_the_end_at_the_line_where_it_stepped():
    findings, _ = ran(
        "def train():\n    model = nn.Linear(2, 2)\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20)\n"
        "    for _ in range(4):\n        for _ in range(5):\n            optimizer.step()\n        schedule.step()\n"
        "train()"
    )
    [finding] = [finding for finding in findings if finding.contract == "contracts/schedule_length_in_batches"]
    assert finding.line == 8 and finding.numbers["steps"] == 20 and finding.numbers["pace"] == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.no_grad()", True),
        ("for _ in range(3):\n    torch.autocast(\n        'cpu',\n        dtype=torch.bfloat16,\n    )", True),
        ("torch.no_grad().__enter__()\ntorch.set_grad_enabled(True)", False),
        ("some = [torch.no_grad()]", False),
        ("def context():\n    return torch.no_grad()\nwith context():\n    pass", False),
        (
            "from contextlib import ExitStack\nwith ExitStack() as stack:\n    stack.enter_context(torch.no_grad())",
            False,
        ),
    ],
)
def test_a_result_that_is_thrown_away(text, expected):
    assert ("contracts/context_not_entered" in names(ran(text)[0])) is expected


def test_a_generator_of_parameters_is_not_used_up():
    def work():
        model = nn.Linear(2, 2)
        optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
        for _ in range(3):
            scaler.scale(100 * model(torch.ones(1, 2)).sum()).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            assert sum(float(p.grad.square().sum()) for p in model.parameters()) < 1.001
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()

    assert not listened(work)[0]


def test_the_counter_of_steps_is_taken_away_at_the_end():
    before = len(optimizers._global_optimizer_post_hooks)
    listened(lambda: None)
    assert len(optimizers._global_optimizer_post_hooks) == before


def test_calls_that_the_watch_listens_to_as_well_are_bound_by_name():
    model = nn.Linear(2, 2)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
    with watch() as trace:
        for _ in range(4):
            scaler.scale(model(torch.ones(1, 2)).sum()).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    assert names(trace.findings) == {"contracts/clip_scaled_gradients"}


def test_a_method_that_is_listened_to_compiles_whole():
    text = (
        "from torchvision.models import mobilenet_v3_small\nmodel, x = mobilenet_v3_small().eval(), torch.rand(2, 3, 32, 32)\n"
        "a = torch.compile(model, backend='eager', fullgraph=True)(x)\n"
        "assert torch.equal(a, model(x))"
    )
    assert not ran(text)[0]
