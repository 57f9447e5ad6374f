"""Sentiment of generated phrases: LSTM, dropout, early stopping on a validation set."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def phrases(n, g):
    x = torch.randint(20, 60, (n, 12), generator=g)
    y = torch.randint(0, 2, (n,), generator=g)
    place = torch.randint(1, 12, (n,), generator=g)
    flip = torch.rand(n, generator=g) < 0.3
    mood = torch.where(flip, 1 - y, y)
    x[torch.arange(n), place] = mood * 10 + torch.randint(0, 10, (n,), generator=g)
    x[torch.arange(n)[flip], place[flip] - 1] = 60
    return TensorDataset(x, y)


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(61, 24)
        self.drop_in = nn.Dropout(0.3)
        self.memory = nn.LSTM(24, 32, batch_first=True)
        self.drop_out = nn.Dropout(0.5)
        self.verdict = nn.Linear(32, 2)

    def forward(self, x):
        h, _ = self.memory(self.drop_in(self.word(x)))
        return self.verdict(self.drop_out(h.max(1).values))


def validate(model, loader):
    total = correct = 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            total += nn.functional.cross_entropy(logits, y, reduction="sum").item()
            correct += (logits.argmax(1) == y).sum().item()
    return total / len(loader.dataset), correct / len(loader.dataset)


def main():
    torch.manual_seed(52)
    g = torch.Generator().manual_seed(52)
    train, valid = DataLoader(phrases(1600, g), 50, shuffle=True), DataLoader(phrases(400, g), 100)
    model = Sentiment().train()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    best, bad = float("inf"), 0
    for epoch in range(10):
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        val, acc = validate(model, valid)
        print(epoch, round(loss.item(), 3), round(val, 3), acc)
        best, bad = (val, 0) if val < best else (best, bad + 1)
        if bad == 3:
            print("stopping early")
            break


if __name__ == "__main__":
    main()
