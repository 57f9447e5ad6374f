"""CTC on noisy run-length sequences with a bidirectional GRU."""
import torch
from torch import nn

torch.manual_seed(50)
SYMBOLS, T, L = 5, 24, 5
proto = torch.randn(SYMBOLS + 1, 10)


def utterances(n):
    frames, targets, lengths = [], [], []
    for _ in range(n):
        k = int(torch.randint(2, L + 1, (1,)))
        seq = torch.randint(1, SYMBOLS + 1, (k,))
        runs = torch.randint(1, 4, (k,))
        gap = torch.zeros(1, dtype=torch.long)
        path = torch.cat([torch.cat([s.repeat(int(r)), gap]) for s, r in zip(seq, runs)])[:T]
        path = torch.cat([path, torch.zeros(T - len(path), dtype=torch.long)])
        frames.append(proto[path] + 0.5 * torch.randn(T, 10))
        targets.append(seq)
        lengths.append(k)
    return torch.stack(frames, 1), torch.cat(targets), torch.tensor(lengths)


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(10, 32, bidirectional=True)
        self.fc = nn.Linear(64, SYMBOLS + 1)

    def forward(self, x):
        return self.fc(self.rnn(x)[0]).log_softmax(-1)


def decode(logp):
    best = logp.argmax(-1).t()
    return [[int(a) for a, b in zip(row, torch.cat([torch.tensor([-1]), row[:-1]])) if a != b and a != 0] for row in best]


model, ctc = Recogniser(), nn.CTCLoss(blank=0, zero_infinity=True)
opt = torch.optim.Adam(model.parameters(), lr=8e-3)
pool = [utterances(32) for _ in range(20)]
val_x, val_y, val_len = utterances(100)
for step in range(1, 121):
    x, y, lens = pool[torch.randint(0, len(pool), (1,))]
    logp = model(x)
    loss = ctc(logp, y, torch.full((x.shape[1],), T), lens)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    if step % 40 == 0:
        with torch.no_grad():
            hyp = decode(model(val_x))
        ref = [r.tolist() for r in val_y.split(val_len.tolist())]
        print(f"step {step} ctc {loss.item():.3f} exact sequences {sum(a == b for a, b in zip(hyp, ref)) / len(ref):.2f}")
