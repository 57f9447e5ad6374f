"""Semi-supervised GCN: full-batch training on a stochastic block model."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(65)
N, C, FEAT = 300, 4, 16
y = torch.arange(N) % C
same = y[:, None] == y[None, :]
prob = torch.where(same, 0.09, 0.012)
adj = torch.bernoulli(prob).triu(1)
adj = adj + adj.t() + torch.eye(N)
deg = adj.sum(1).rsqrt()
a_hat = deg[:, None] * adj * deg[None, :]
x = 0.6 * F.one_hot(y, FEAT).float() + 0.5 * torch.randn(N, FEAT)
order = torch.randperm(N)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[order[:40]] = True
val_mask = torch.zeros(N, dtype=torch.bool)
val_mask[order[40:140]] = True
test_mask = ~(train_mask | val_mask)


class GCN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.w1, self.w2 = nn.Linear(FEAT, hidden, bias=False), nn.Linear(hidden, C, bias=False)

    def forward(self, a, x):
        x = F.dropout(x, 0.5, training=self.training)
        x = F.relu(a @ self.w1(x))
        x = F.dropout(x, 0.5, training=self.training)
        return F.log_softmax(a @ self.w2(x), dim=1)


model = GCN()
optimizer = torch.optim.Adam([
    {"params": model.w1.parameters(), "weight_decay": 5e-4},
    {"params": model.w2.parameters(), "weight_decay": 0.0}], lr=0.01)
best_val = best_test = 0.0
for epoch in range(1, 161):
    model.train()
    optimizer.zero_grad()
    out = model(a_hat, x)
    loss = F.nll_loss(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        pred = model(a_hat, x).argmax(1)
    val = (pred == y)[val_mask].float().mean().item()
    test = (pred == y)[test_mask].float().mean().item()
    if val > best_val:
        best_val, best_test = val, test
    if epoch % 40 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f} val {val:.3f} test at best val {best_test:.3f}")
