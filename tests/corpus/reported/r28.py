"""Sentence-embedding style triplet training with Euclidean distances."""
import torch
from torch import nn

torch.manual_seed(32)
GROUPS, PER, DIM = 20, 12, 20
centres = torch.randn(GROUPS, DIM)
items = centres[:, None] * 0.9 + torch.randn(GROUPS, PER, DIM)
queries = centres[:, None] * 0.9 + torch.randn(GROUPS, 4, DIM)


def euclidean(a, b):
    return torch.sqrt(((a - b) ** 2).sum(-1))


class Encoder(nn.Module):
    def __init__(self, out=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 48), nn.ReLU(), nn.Linear(48, out))

    def forward(self, x):
        return self.net(x)


def triplets(n):
    g = torch.randint(0, GROUPS, (n,))
    other = (g + torch.randint(1, GROUPS, (n,))) % GROUPS
    a, p, q = torch.randint(0, PER, (3, n))
    return items[g, a], items[g, p], items[other, q]


class TripletLoss(nn.Module):
    def __init__(self, margin=1.0, warmup=0, distance=euclidean):
        super().__init__()
        self.margin, self.distance = margin, distance

    def forward(self, anchor, positive, negative):
        d_pos, d_neg = self.distance(anchor, positive), self.distance(anchor, negative)
        return torch.relu(d_pos - d_neg + self.margin).mean()


@torch.no_grad()
def recall_at_1(model):
    d = torch.cdist(model(queries.flatten(0, 1)), model(items.flatten(0, 1)))
    near = d.argmin(1) // PER
    return (near == torch.arange(GROUPS).repeat_interleave(4)).float().mean().item()


model, criterion = Encoder(), TripletLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
print(f"start recall@1 {recall_at_1(model):.3f}")
for step in range(1, 241):
    anchor, positive, negative = (model(t) for t in triplets(16))
    loss = criterion(anchor, positive, negative)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.4f} recall@1 {recall_at_1(model):.3f}")
