"""Implicit-feedback recommender: matrix factorisation with BPR and sparse gradients."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(71)
USERS, ITEMS, RANK = 120, 80, 4
u_true, i_true = torch.randn(USERS, RANK), torch.randn(ITEMS, RANK)
score = u_true @ i_true.t() + 0.5 * torch.randn(USERS, ITEMS)
liked = score.topk(16, 1).indices
liked = liked.gather(1, torch.rand(USERS, 16).argsort(1))
train_items, test_items = liked[:, :12], liked[:, 12:]
seen = torch.zeros(USERS, ITEMS, dtype=torch.bool).scatter_(1, train_items, True)


class MF(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.user, self.item = nn.Embedding(USERS, dim, sparse=True), nn.Embedding(ITEMS, dim, sparse=True)
        self.bias = nn.Parameter(torch.zeros(ITEMS))
        for emb in (self.user, self.item):
            nn.init.normal_(emb.weight, std=0.1)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias[i]


def negatives(u):
    out = torch.randint(0, ITEMS, u.shape)
    while (bad := seen[u, out]).any():
        out[bad] = torch.randint(0, ITEMS, (int(bad.sum()),))
    return out


@torch.no_grad()
def recall_at_10(m):
    s = m.user.weight @ m.item.weight.t() + m.bias
    top = s.masked_fill(seen, float("-inf")).topk(10, 1).indices
    return (top[:, :, None] == test_items[:, None, :]).any(1).float().mean().item()


model = MF()
opt_sparse = torch.optim.SparseAdam([model.user.weight, model.item.weight], lr=0.02)
opt_dense = torch.optim.SGD([model.bias], lr=0.1)
pairs = torch.stack([torch.arange(USERS).repeat_interleave(12), train_items.flatten()], 1)
print(f"start recall@10 {recall_at_10(model):.3f}")
for epoch in range(20):
    for rows in torch.randperm(len(pairs)).split(96):
        u, i = pairs[rows].t()
        loss = -F.logsigmoid(model(u, i) - model(u, negatives(u))).mean()
        for opt in (opt_sparse, opt_dense):
            opt.zero_grad()
        loss.backward()
        for opt in (opt_sparse, opt_dense):
            opt.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} bpr {loss.item():.3f} recall@10 {recall_at_10(model):.3f}")
