"""Multi-label tagging: which factors are present in a signal (sigmoid in the model)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
N_TAGS, DIM = 6, 32
bases = torch.randn(N_TAGS, DIM)


def synth(n, gen):
    tags = (torch.rand(n, N_TAGS, generator=gen) < 0.25).float()
    amp = 0.7 + torch.rand(n, N_TAGS, generator=gen)
    return (tags * amp) @ bases + 0.4 * torch.randn(n, DIM, generator=gen), tags


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, N_TAGS))

    def forward(self, x):
        return torch.sigmoid(self.net(x))


def f1(pred, target):
    tp = (pred * target).sum()
    return (2 * tp / (pred.sum() + target.sum())).item()


gen = torch.Generator().manual_seed(1)
train_loader = DataLoader(TensorDataset(*synth(2000, gen)), batch_size=50, shuffle=True)
val_x, val_t = synth(500, gen)

model = Tagger()
criterion = nn.BCELoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(8):
    seen = loss_sum = 0
    for x, t in train_loader:
        prob = model(x)
        loss = criterion(prob, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(x)
        seen += len(x)
    with torch.no_grad():
        score = f1((model(val_x) > 0.5).float(), val_t)
    print(f"epoch {epoch} bce {loss_sum / seen:.4f} val micro-F1 {score:.3f}")
