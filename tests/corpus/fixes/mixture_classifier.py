import argparse
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class SoftmaxMixture(nn.Module):
    def __init__(self, n_in, n_hidden, n_classes, k):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Dropout(0.2))
        self.gate = nn.Linear(n_hidden, k)
        self.components = nn.Linear(n_hidden, k * n_classes)
        self.k, self.n_classes = k, n_classes

    def forward(self, x):
        h = self.trunk(x)
        log_pi = F.log_softmax(self.gate(h), dim=-1)
        log_p = F.log_softmax(self.components(h).view(-1, self.k, self.n_classes), dim=-1)
        return torch.logsumexp(log_pi.unsqueeze(-1) + log_p, dim=1)


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--components", type=int, default=4)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=56)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=int(os.environ.get("SEED", 0)))
    return ap.parse_args()


def prepare(seed):
    x, y = load_digits(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(x_tr)
    to = lambda a: torch.tensor(scaler.transform(a), dtype=torch.float32)
    return to(x_tr), torch.tensor(y_tr), to(x_te), torch.tensor(y_te)


@torch.no_grad()
def evaluate(model, x, y, criterion):
    was_training = model.training
    model.eval()
    out = model(x)
    nll = criterion(out, y).item()
    acc = (out.argmax(-1) == y).float().mean().item()
    confidence = out.exp().max(-1).values.mean().item()
    model.train(was_training)
    return nll, acc, confidence


def main():
    args = parse()
    torch.manual_seed(args.seed)
    x_tr, y_tr, x_te, y_te = prepare(args.seed)
    model = SoftmaxMixture(x_tr.shape[1], args.hidden, 10, args.components)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)

    for epoch in range(1, args.epochs + 1):
        model.train()
        order = torch.randperm(len(y_tr))
        running = 0.0
        for chunk in order.split(args.batch):
            optimizer.zero_grad()
            loss = criterion(model(x_tr[chunk]), y_tr[chunk])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(chunk)
        scheduler.step()
        if epoch % 8 == 0:
            nll, acc, conf = evaluate(model, x_te, y_te, criterion)
            print(f"epoch {epoch:2d} train {running / len(y_tr):.4f} "
                  f"test nll {nll:.4f} acc {acc:.4f} conf {conf:.4f}")

    nll, acc, conf = evaluate(model, x_te, y_te, criterion)
    print(f"final nll={nll:.4f} acc={acc:.4f} confidence={conf:.4f}")


if __name__ == "__main__":
    main()
