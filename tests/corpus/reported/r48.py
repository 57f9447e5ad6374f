"""Channel pruning of a small CNN, followed by fine-tuning."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(12)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).view(-1, 1, 8, 8) / 16
y = torch.tensor(y)
perm = torch.randperm(len(X))
tr, te = perm[:1300], perm[1300:]


class CNN(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(1, width, 3, padding=1)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(width * 16, 10)

    def forward(self, x):
        return self.fc(self.drop(F.max_pool2d(F.relu(self.conv(x)), 2).flatten(1)))


def run(model, optimizer, epochs, tag):
    for e in range(epochs):
        model.train()
        for rows in tr[torch.randperm(len(tr))].split(64):
            loss = F.cross_entropy(model(X[rows]), y[rows])
            model.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"{tag} {e} loss {loss.item():.3f} acc {accuracy(model):.3f}")


@torch.no_grad()
def accuracy(model):
    model.eval()
    return (model(X[te]).argmax(1) == y[te]).float().mean().item()


@torch.no_grad()
def speedup(model, keep):
    """Builds a narrower model that holds the channels with the largest L1 norm."""
    best = model.conv.weight.abs().sum((1, 2, 3)).topk(keep).indices
    small = CNN(keep)
    small.conv.weight.copy_(model.conv.weight[best])
    small.conv.bias.copy_(model.conv.bias[best])
    w = model.fc.weight.view(10, -1, 16)[:, best]
    small.fc.weight.copy_(w.reshape(10, -1))
    small.fc.bias.copy_(model.fc.bias)
    return small


model = CNN(16)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
run(model, optimizer, 4, "dense")
model = speedup(model, keep=3)
print(f"after pruning acc {accuracy(model):.3f}")
for group in optimizer.param_groups:
    group["lr"] = 1e-3
run(model, optimizer, 6, "finetune")
