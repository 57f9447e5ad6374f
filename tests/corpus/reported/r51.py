"""Answer ranking over several question sources; success rate per source."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(26)
DIM, CANDIDATES = 16, 4
rotation = torch.linalg.qr(torch.randn(DIM, DIM))[0]


def questions(n, noise):
    q = torch.randn(n, DIM)
    cands = torch.randn(n, CANDIDATES, DIM)
    gold = torch.randint(0, CANDIDATES, (n,))
    cands[torch.arange(n), gold] = q @ rotation + noise * torch.randn(n, DIM)
    return q, cands, gold


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(DIM, DIM, bias=False)

    def forward(self, q, cands):
        return torch.einsum("nd,ncd->nc", self.f(q), cands)


def validate(model, sources, val_batch_size=64):
    """Scores all sources in batches and reports the success rate of each of them."""
    data = [torch.cat(parts) for parts in zip(*(s for s in sources.values()))]
    names = np.repeat(list(sources), [len(s[0]) for s in sources.values()])
    success_rate = {k: [] for k in sources}
    model.eval()
    with torch.no_grad():
        for start in range(0, len(names), val_batch_size):
            q, cands, gold = (t[start:start + val_batch_size] for t in data)
            won = (model(q, cands).argmax(1) == gold).numpy()
            part = names[start:start + val_batch_size]
            for k in np.unique(part):
                success_rate[k].append(won[part == k].mean())
    model.train()
    return {k: float(np.mean(v)) for k, v in success_rate.items()}


model = Ranker()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
val = {"wiki": questions(250, 1.0), "trivia": questions(133, 2.5), "riddles": questions(66, 3.5)}
for step in range(1, 181):
    q, cands, gold = questions(48, 2.0)
    loss = nn.functional.cross_entropy(model(q, cands), gold)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        rates = validate(model, val)
        print(f"step {step} loss {loss.item():.3f} " + " ".join(f"{k} {v:.3f}" for k, v in rates.items()))
