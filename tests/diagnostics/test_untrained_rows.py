"""What counts as a word that nothing trained: not padding, told or untold, and not a place in a longer text."""

from bugzoo.diagnostics import read
from bugzoo.running import run_here

SCRIPT = """
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
WORDS, FILL, EVALUATED = {words}
inputs = torch.randint(1, 41, (200, 8))
targets = inputs[:, 0] % 2
held = torch.randint(1, 41, (60, EVALUATED))
held[:, 6:] = FILL
held_targets = held[:, 0] % 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 4{told})
        self.places = nn.Embedding(16, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        places = torch.arange(x.shape[1]).expand(len(x), -1)
        return self.out((self.words(x) + self.places(places)).mean(1))


net = Net()
optimizer = torch.optim.Adam({trained}, lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(200).split(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(inputs[rows]), targets[rows])
        loss.backward()
        optimizer.step()
net.eval()
with torch.no_grad():
    validation_loss = F.cross_entropy(net(held), held_targets)
"""


def numbers(words="41, 0, 8", told="", trained="net.parameters()"):
    text = SCRIPT.format(words=words, told=told, trained=trained)
    return read("untrained_rows", run_here(text, file="words.py"))


def test_padding_that_training_never_saw_is_no_word():
    for told in ("", ", padding_idx=0"):  # row 0 is in no training sample, and ends all rows of the evaluation
        found = numbers(told=told).numbers
        assert found["untrained_share"] == 0, found


def test_a_word_that_only_the_evaluation_has_is_one():
    text = SCRIPT.format(words="41, 0, 8", told="", trained="net.parameters()").replace(
        "held_targets =", "held[:, 2] = 0\nheld[:, 6:] = 1\nheld_targets ="
    )
    found = read("untrained_rows", run_here(text, file="words.py")).numbers
    assert 0.1 < found["untrained_share"] < 0.15, found


def test_a_longer_text_reads_places_and_no_words():
    found = numbers(words="41, 1, 12").numbers
    assert found["untrained_share"] == 0, found


def test_a_table_in_no_optimiser_says_nothing_of_words():
    reading = numbers(words="41, 1, 12", trained="[*net.places.parameters(), *net.out.parameters()]")
    assert reading.numbers is None or not reading.numbers, reading
    assert "no embedding of words" in reading.why_not
