"""LSTM sequence classifier under bfloat16 autocast, packed variable-length input."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.manual_seed(68)


def corpus(n):
    seqs, labels = [], []
    for _ in range(n):
        t = int(torch.randint(5, 20, (1,)))
        trend = float(torch.randint(0, 2, (1,)) * 2 - 1)
        s = 0.15 * trend * torch.arange(t).float().unsqueeze(1) + 0.5 * torch.randn(t, 3)
        seqs.append(s)
        labels.append(int(trend > 0))
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.inp = nn.Linear(3, 16)
        self.rnn = nn.LSTM(16, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x, lengths):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = self.inp(x)
        packed = pack_padded_sequence(h.float(), lengths, batch_first=True, enforce_sorted=False)
        _, (h_n, _) = self.rnn(packed)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.head(h_n[-1])


x, n, y = corpus(600)
vx, vn, vy = corpus(200)
model = Classifier()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
for epoch in range(6):
    total = 0.0
    for rows in torch.randperm(600).split(30):
        logits = model(x[rows], n[rows])
        loss = nn.functional.cross_entropy(logits.float(), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    with torch.no_grad():
        acc = (model(vx, vn).argmax(1) == vy).float().mean()
    print(f"epoch {epoch} loss {total / 600:.4f} val acc {acc:.3f}")
