"""Toy handwriting: a stretched sequence of symbols, read with CTC."""
import torch
import torch.nn as nn


def sample(n, gen):
    xs, targets, in_len, tg_len = [], [], [], []
    for _ in range(n):
        word = torch.randint(1, 6, (int(torch.randint(2, 5, (1,), generator=gen)),), generator=gen)
        frames = []
        for sym in word:
            reps = int(torch.randint(2, 5, (1,), generator=gen))
            frames += [sym] * reps + [torch.tensor(0)]
        frames = torch.stack(frames)
        onehot = nn.functional.one_hot(frames, 6).float() + 0.2 * torch.randn(len(frames), 6, generator=gen)
        xs.append(onehot)
        targets.append(word)
        in_len.append(len(frames))
        tg_len.append(len(word))
    return nn.utils.rnn.pad_sequence(xs), torch.cat(targets), torch.tensor(in_len), torch.tensor(tg_len)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 24, bidirectional=True)
        self.fc = nn.Linear(48, 6)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.fc(y).log_softmax(2)


gen = torch.Generator().manual_seed(9)
torch.manual_seed(9)
net = Net()
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for it in range(120):
    x, t, il, tl = sample(16, gen)
    optimizer.zero_grad()
    loss = ctc(net(x), t, il, tl)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    if it % 20 == 0:
        print(it, f"{loss.item():.3f}")

net.eval()
with torch.inference_mode():
    x, t, il, tl = sample(100, gen)
    best = net(x).argmax(2).T
    words = t.split(tl.tolist())
    good = 0
    for row, k, w in zip(best, il, words):
        collapsed = torch.unique_consecutive(row[:k])
        collapsed = collapsed[collapsed != 0]
        good += int(len(collapsed) == len(w) and bool((collapsed == w).all()))
    print("words right:", good, "of 100")
