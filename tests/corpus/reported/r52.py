"""Character model on a toy corpus, large effective batch from micro-batches."""
import random

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1337)
random.seed(1337)
words = ("the quick brown fox jumps over a lazy dog while seven wizards boxed five jugs of cold tea "
         "under pale moon light near old stone bridge where nobody dares to sing").split()
text = " ".join(random.choice(words) for _ in range(3000))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
split = int(0.9 * len(data))

block_size = 20
micro_batch = 8
gradient_accumulation_steps = 16
max_iters = 120
learning_rate = 0.1


def get_batch(part):
    d = data[:split] if part == "train" else data[split:]
    ix = torch.randint(len(d) - block_size, (micro_batch,))
    return torch.stack([d[i:i + block_size] for i in ix]), d[ix + block_size]


class CharMLP(nn.Module):
    def __init__(self, vocab, emb=16, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.net = nn.Sequential(nn.Linear(block_size * emb, hidden), nn.Tanh(), nn.Linear(hidden, vocab))

    def forward(self, idx, targets=None):
        logits = self.net(self.emb(idx).flatten(1))
        loss = None if targets is None else F.cross_entropy(logits, targets)
        return logits, loss


@torch.no_grad()
def estimate_loss(model, k=10):
    model.eval()
    out = sum(model(*get_batch("val"))[1].item() for _ in range(k)) / k
    model.train()
    return out


model = CharMLP(len(chars))
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
print(f"start: val loss {estimate_loss(model):.3f}")
for it in range(1, max_iters + 1):
    optimizer.zero_grad(set_to_none=True)
    lossf = 0.0
    for micro_step in range(gradient_accumulation_steps):
        X, Y = get_batch("train")
        logits, loss = model(X, Y)
        lossf += loss.item() / gradient_accumulation_steps
        loss.backward()
    optimizer.step()
    if it % 30 == 0:
        print(f"iter {it}: train {lossf:.3f} val {estimate_loss(model):.3f}")
