"""Stage-wise training loop with micro-batches for an autoencoder plus classifier."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(45)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
order = torch.randperm(len(X))
tr, te = order[:1400], order[1400:]


class Representation(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim))
        self.decoder = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 64))
        self.classifier = nn.Sequential(nn.ReLU(), nn.Linear(dim, 10), nn.Softmax(dim=1))

    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z), self.classifier(z)


def train_one_epoch(model, optimizer, rows, micro_batch, grad_accum, alpha=1.0):
    model.train()
    logged, steps = 0.0, 0
    for chunk in rows[torch.randperm(len(rows))].split(micro_batch * grad_accum):
        for micro in chunk.split(micro_batch):
            recon, logits = model(X[micro])
            loss = F.mse_loss(recon, X[micro]) + alpha * F.cross_entropy(logits, y[micro])
            (loss / grad_accum).backward()
            optimizer.zero_grad(set_to_none=False)
            logged += loss.item()
            steps += 1
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return logged / steps


def evaluate(model):
    model.eval()
    with torch.no_grad():
        recon, out = model(X[te])
    return F.mse_loss(recon, X[te]).item(), (out.argmax(1) == y[te]).float().mean().item()


model = Representation()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
for epoch in range(12):
    loss = train_one_epoch(model, optimizer, tr, micro_batch=16, grad_accum=4)
    if epoch % 3 == 2:
        mse, acc = evaluate(model)
        print(f"epoch {epoch + 1} loss {loss:.4f} test mse {mse:.4f} test acc {acc:.3f}")
