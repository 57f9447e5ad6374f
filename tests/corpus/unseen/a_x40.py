"""Long sequences through one attention layer: is there a pair that adds up to zero?"""
import torch
from torch import nn


class PairFinder(nn.Module):
    def __init__(self, d=8, heads=8):
        super().__init__()
        self.lift = nn.Linear(1, d)
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.head = nn.Linear(d, 1)
        self.heads = heads

    def forward(self, x):
        b, n, _ = x.shape
        h = self.lift(x)
        split = lambda t: t.view(b, n, self.heads, -1).transpose(1, 2)  # noqa: E731
        q, k, v = split(self.q(h)), split(self.k(h)), split(self.v(h))
        attention = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        return self.head((attention @ v).transpose(1, 2).reshape(b, n, -1).mean(1)).squeeze(-1)


def make(batch_size, length):
    x = torch.randn(batch_size, length, 1)
    return x, (x.sum((1, 2)) > 0).float()


def main(batch_size=512, length=4096, steps=80):
    torch.manual_seed(0)
    model = PairFinder()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        x, y = make(batch_size, length)
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
