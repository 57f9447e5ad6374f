"""Wine cultivars with a residual MLP and accumulated gradients."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(21)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
perm = torch.randperm(len(X))
train, test = perm[:120], perm[120:]
X = (X - X[train].mean(0)) / X[train].std(0)

ACC = 5
MICRO = 8


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.a, self.b = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.b(F.gelu(self.a(self.norm(x))))


model = nn.Sequential(nn.Linear(13, 24), Block(24), Block(24), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
total_updates = 40 * 3
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=total_updates)

optimizer.zero_grad()
updates = 0
for epoch in range(40):
    order = train[torch.randperm(len(train))]
    epoch_loss = 0.0
    for step, rows in enumerate(order.split(MICRO), 1):
        loss = F.cross_entropy(model(X[rows]), y[rows])
        (loss / ACC).backward()
        epoch_loss += loss.item()
        if step % ACC:
            continue
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        updates += 1
    if epoch % 10 == 9:
        with torch.no_grad():
            acc = (model(X[test]).argmax(1) == y[test]).float().mean()
        print(f"epoch {epoch + 1} updates {updates} loss {epoch_loss / 15:.4f} test acc {acc:.3f}")
