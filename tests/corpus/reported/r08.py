"""Relation scorer over sets of neighbours (multi-head attention with padding)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(33)
MAX_N, DIM = 6, 16


def seq_len_to_mask(lengths, max_len):
    return torch.arange(max_len)[None, :] >= lengths[:, None]


def make(n):
    centre = torch.randn(n, DIM)
    neigh = torch.randn(n, MAX_N, DIM)
    lengths = torch.randint(1, MAX_N + 1, (n,))
    lengths[torch.rand(n) < 0.004] = 0
    pad = seq_len_to_mask(lengths, MAX_N)
    sim = (centre[:, None] * neigh).sum(-1).masked_fill(pad, -1e4)
    best = neigh[torch.arange(n), sim.argmax(1)] * (lengths > 0)[:, None]
    y = (best[:, 0] + 0.5 * centre[:, 1] > 0).float()
    return centre, neigh, pad, y


class NeighbourScorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.kv = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        self.mha = nn.MultiheadAttention(DIM, 4, batch_first=True)
        self.norm = nn.LayerNorm(2 * DIM)
        self.out = nn.Sequential(nn.Linear(2 * DIM, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, centre, neigh, pad):
        q, kv = self.q(centre).unsqueeze(1), self.kv(neigh)
        ctx, _ = self.mha(q, kv, kv, key_padding_mask=pad)
        return self.out(self.norm(torch.cat([centre, ctx.squeeze(1)], 1))).squeeze(1)


train = DataLoader(TensorDataset(*make(2400)), batch_size=48, shuffle=True)
test = make(500)
model = NeighbourScorer()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(5):
    model.train()
    for centre, neigh, pad, y in train:
        loss = criterion(model(centre, neigh, pad), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    model.eval()
    with torch.no_grad():
        acc = ((model(*test[:3]) > 0).float() == test[3]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
