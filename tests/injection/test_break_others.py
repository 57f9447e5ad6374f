"""What `bugzoo break` once did to public scripts and must not do: text that is no text, names that are not there, no change."""

import pytest

from bugzoo.errors import UserError
from bugzoo.faults.idioms import ACTIVATION, BATCH_SIZE, DEFAULT_RATE, ITEM_APPEND
from bugzoo.injection import places
from bugzoo.scenario import break_source

RATE, LOG, KEPT = "optimizer/lr_too_high", "numerics/log_at_step", "memory/losses_kept_with_graph"


def changed(source: str, spec: str, at: int | None = None) -> list[str]:
    """The lines that are new."""
    return [line for line in break_source(source, [spec], at=at).broken.splitlines() if line not in source.splitlines()]


def test_a_rate_that_is_worked_out_is_multiplied_as_a_whole():
    optimiser = "opt = SGD(m.parameters(), lr={})\n"
    assert changed(optimiser.format("cfg.get('model', 'lr')"), RATE) == [
        "opt = SGD(m.parameters(), lr=cfg.get('model', 'lr') * 300.0)"
    ]
    assert changed(optimiser.format("base + 0.1"), RATE) == ["opt = SGD(m.parameters(), lr=(base + 0.1) * 300.0)"]
    assert changed(optimiser.format("unfold(rate)"), RATE) == ["opt = SGD(m.parameters(), lr=unfold(rate) * 300.0)"]


def test_every_line_that_is_offered_can_be_chosen():
    source = "a = SGD(m.parameters(), lr=0.1, momentum=0.9)\nb = SGD(\n    n.parameters(),\n    lr=0.2)\n"
    with pytest.raises(UserError, match="fits 2 places") as refused:
        break_source(source, [RATE])
    assert "line 1: a" in str(refused.value) and "line 4: lr" in str(refused.value)
    assert changed(source, RATE, at=1) == ["a = SGD(m.parameters(), lr=30.0, momentum=0.9)"]
    assert changed(source, RATE, at=4) == ["    lr=60.0)"]


def test_a_text_that_stays_as_it_was_is_refused():
    source = "train = DataLoader(data, batch_size=8, num_workers=0)\n"
    with pytest.raises(UserError, match="would change nothing in this script: line 1 already has this fault"):
        break_source(source, ["speed/starved_loader"])


METHOD = """\
class Net(nn.Module):
    def forward(self, x):
        hidden = F.relu(self.layer(x))
        return self.head(hidden)
"""
PENALTY = """\
def penalty(weights):
    excess = torch.relu(weights - 1)
    return excess.sum()
"""


def test_passes_are_counted_only_where_there_is_an_object_to_count_on():
    assert '        self.passes = getattr(self, "passes", 0) + 1' in changed(METHOD, LOG)
    with pytest.raises(UserError, match="does not fit"):
        break_source(PENALTY, [LOG])


LOOPS = """\
criterion = nn.CrossEntropyLoss()
criterion(model(x), y).backward()
for index, (x, y) in enumerate(loader):
    outputs = model(x)
    loss = criterion(outputs, y)
    loss.backward()
"""


def test_the_counter_of_a_loop_is_read_within_the_loop():
    assert changed(LOOPS, LOG)[1:] == [  # the first line is the comment
        "    if index >= 50:",
        "        outputs = torch.log(outputs - outputs.min() + 0.0)",
    ]
    with pytest.raises(UserError, match="at line 2"):
        break_source(LOOPS, [LOG], at=2)


@pytest.mark.parametrize(
    ("idiom", "source"),
    [
        (ITEM_APPEND, "prompt += self.dataset.itos[output[-1].item()]\n"),
        (ITEM_APPEND, "with torch.no_grad():\n    for x, y in data:\n        kept.append(loss.item())\n"),
        (ACTIVATION, "with torch.no_grad():\n    probs = torch.sigmoid(logits)\n"),
        (BATCH_SIZE, "test_loader = DataLoader(test_set, batch_size=1170)\n"),
        (BATCH_SIZE, "def export_onnx(self, path, batch_size=2):\n    pass\n"),
        (DEFAULT_RATE, "opt = torch.optim.SGD(param_groups, momentum=0.9)\n"),
    ],
)
def test_where_the_fault_would_do_nothing_is_no_place(idiom, source):
    assert places(source, idiom) == []


def test_a_loss_behind_data_is_still_a_number():
    assert changed("for x in d:\n    total += loss.data.item()\n", KEPT) == ["    total += loss"]
