"""Train a digit net, cut away most of its filters, fine-tune what is left."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Net(nn.Module):
    def __init__(self, c1=24, c2=48):
        super().__init__()
        self.conv1 = nn.Conv2d(1, c1, 3, padding=1)
        self.conv2 = nn.Conv2d(c1, c2, 3, padding=1)
        self.fc = nn.Linear(c2 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def strongest(conv, n):
    return conv.weight.detach().abs().sum(dim=(1, 2, 3)).topk(n).indices.sort().values


@torch.no_grad()
def slim(model, keep1, keep2):
    """Replace the layers by smaller ones that hold the kept filters."""
    i1, i2 = strongest(model.conv1, keep1), strongest(model.conv2, keep2)
    conv1 = nn.Conv2d(1, keep1, 3, padding=1)
    conv1.weight.copy_(model.conv1.weight[i1])
    conv1.bias.copy_(model.conv1.bias[i1])
    conv2 = nn.Conv2d(keep1, keep2, 3, padding=1)
    conv2.weight.copy_(model.conv2.weight[i2][:, i1])
    conv2.bias.copy_(model.conv2.bias[i2])
    fc = nn.Linear(keep2 * 4, 10)
    cols = (i2[:, None] * 4 + torch.arange(4)).flatten()
    fc.weight.copy_(model.fc.weight[:, cols])
    fc.bias.copy_(model.fc.bias)
    model.conv1, model.conv2, model.fc = conv1, conv2, fc
    return model


def n_params(model):
    return sum(p.numel() for p in model.parameters())


def fit(model, optimizer, x, y, epochs, test, tag):
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 0:
            print(f"{tag} epoch {epoch:2d}: loss {total / len(x):.3f}, test acc {accuracy(model, *test):.3f}")


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--finetune-epochs", type=int, default=15)
    ap.add_argument("--keep", type=int, nargs=2, default=(6, 10))
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    d = load_digits()
    xtr, xte, ytr, yte = train_test_split(d.images / 16.0, d.target, test_size=0.3, random_state=args.seed)
    xtr, xte = (torch.tensor(a, dtype=torch.float32).unsqueeze(1) for a in (xtr, xte))
    ytr, yte = torch.tensor(ytr), torch.tensor(yte)

    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    fit(model, optimizer, xtr, ytr, args.epochs, (xte, yte), "full")
    print(f"full: {n_params(model)} parameters, test acc {accuracy(model, xte, yte):.3f}")

    slim(model, *args.keep)
    print(f"slim: {n_params(model)} parameters, test acc {accuracy(model, xte, yte):.3f} before fine-tuning")
    for group in optimizer.param_groups:
        group["lr"] = args.lr / 2
    fit(model, optimizer, xtr, ytr, args.finetune_epochs, (xte, yte), "slim")


if __name__ == "__main__":
    main()
