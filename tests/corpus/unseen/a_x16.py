"""Tag every token of a sequence: is it inside brackets?  GRU, weights for the rare tag."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy


def strings(n, k=24):
    s = torch.randint(2, 10, (n, k))
    label = torch.zeros(n, k, dtype=torch.long)
    for r in range(n):
        a = int(torch.randint(0, k - 8, ()))
        b = a + int(torch.randint(3, 8, ()))
        s[r, a], s[r, b] = 0, 1
        label[r, a + 1:b] = 1
        label[r, [a, b]] = 2
    return s, label


class BiGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.lookup = nn.Embedding(10, 12)
        self.gru = nn.GRU(12, 20, bidirectional=True, batch_first=True)
        self.tagger = nn.Linear(40, 3)

    def forward(self, s):
        states, _ = self.gru(self.lookup(s))
        return self.tagger(states).softmax(dim=2)


torch.manual_seed(51)
net = BiGRU()
rmsprop = torch.optim.RMSprop(net.parameters(), lr=4e-3)
importance = torch.tensor([1.0, 2.0, 2.0])
for n_seen in range(0, 32 * 150, 32):
    s, label = strings(32)
    rmsprop.zero_grad()
    penalty = cross_entropy(net(s).transpose(1, 2), label, weight=importance)
    penalty.backward()
    rmsprop.step()
    if n_seen % 960 == 0:
        print(n_seen, penalty.item())
s, label = strings(200)
print("tags right", (net(s).argmax(2) == label).float().mean().item())
