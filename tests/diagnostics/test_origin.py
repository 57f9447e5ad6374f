"""Where an argument comes from: through names, methods that keep the numbers, functions, and what a dataset returns."""

import pytest

from bugzoo.diagnostics._origin import lost, origin

TEXT = """import torch.nn.functional as F
probs = 1
def loss(scores, target):
    probs = scores.softmax(-1)
    if True:
        probs, other = probs / 2, 3
    def inner():
        probs = 5
    return F.kl_div(
        probs,
        target=target,
    )
F.kl_div(target=probs, input=probs)
F.kl_div(probs.exp(), probs)
F.kl_div(*probs)
"""


@pytest.mark.parametrize(
    ("line", "place", "keyword", "wanted"),
    [(9, 0, "input", 6), (10, 0, "input", 6), (9, 1, "target", 9), (13, 0, "input", 2), (13, 1, "target", 2),
     (14, 0, "input", 14), (14, 1, "target", 2), (15, 0, "input", 15), (2, 0, "input", 2)],
)  # fmt: skip
def test_the_latest_assignment_before_the_call(line, place, keyword, wanted):
    assert origin(TEXT, line, place, keyword) == wanted


def test_what_is_no_python_stays_where_it_is():
    assert origin("for i in", 1, 0, "input") == 1


LOADED = """class Shapes(Dataset):
    def __init__(self, masks):
        self.masks = masks
        self.names = {c: i for i, c in enumerate("abc")}
    def scaled(self, a):
        a = a.float()
        return a * 255
    def __getitem__(self, i):
        image = self.images[i]
        return {"image": image, "mask": self.scaled(self.masks[i]), "name": torch.tensor(self.names[i])}
def train(loader):
    for step, batch in enumerate(loader):
        mask = batch["mask"].to(device)
        loss = F.bce(net(batch["image"]), mask.float())
        loss = F.bce(batch["name"], target=batch["mask"])
    for x in range(3):
        F.bce(x, loss)
"""
PAIRS = """class Pairs(Dataset):
    def __getitem__(self, i):
        label = self.labels[i] - 1
        return self.rows[i], label
for x, y in loader:
    x, y = x.cuda(), y.cuda()
    F.nll(net(x), y)
for step, (x, y) in enumerate(tqdm(loader)):
    F.nll(x, y)
"""


@pytest.mark.parametrize(
    ("text", "line", "place", "wanted"),
    [
        (LOADED, 14, 1, 7),  # through mask.float(), .to(device), the batch's key and the function that makes it
        (LOADED, 15, 0, 4),  # what is looked up in a table that the object holds
        (LOADED, 17, 0, 17),  # no loop over a loader
        (LOADED, 17, 1, 15),
        (LOADED.replace("loader)", "loader, collate_fn=mine)"), 14, 1, 13),  # a batch is not an item of the dataset
        (PAIRS, 7, 1, 3),
        (PAIRS, 9, 1, 3),
        (PAIRS + PAIRS, 9, 1, 9),  # two datasets: either could be meant
    ],
)
def test_a_value_is_followed_to_where_the_script_makes_it(text, line, place, wanted):
    assert origin(text, line, place, "-") == wanted


HOOKS = """class Features:
    def __init__(self):
        self.handles = []
    def add(self, layer):
        self.handles.append(layer.register_forward_hook(self.hook))
    def clear(self):
        self.handles = []
"""


def test_the_line_that_throws_a_handle_away():
    assert lost(HOOKS, 5) == 7
    assert lost(HOOKS.replace("self.handles = []\n    def add", "self.other = []\n    def add"), 5) == 7
    assert lost(HOOKS.replace("        self.handles = []\n", "        self.handles.clear()\n"), 5) == 3
    assert lost("for _ in range(9):\n    layer.register_forward_hook(hook)\n", 2) == 2
