"""Length-bucketed text classification with an embedding bag."""
import torch
from torch import nn


class Topics:
    """Documents of three topics; every topic prefers its own words."""

    def __init__(self, n=1200, seed=6):
        g = torch.Generator().manual_seed(seed)
        base = torch.rand(3, 60, generator=g).pow(4)
        self.labels = torch.randint(0, 3, (n,), generator=g)
        self.docs = []
        for lab in self.labels:
            k = int(torch.randint(8, 30, (1,), generator=g))
            self.docs.append(torch.multinomial(base[lab], k, replacement=True, generator=g))

    def bucketed(self, size):
        # short documents together, so that batches are cheap
        docs = sorted(self.docs, key=len)
        for s in range(0, len(docs), size):
            yield docs[s:s + size], self.labels[s:s + size]


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(60, 24, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 3))

    def forward(self, docs):
        starts = torch.tensor([0] + [len(d) for d in docs[:-1]]).cumsum(0)
        return self.mlp(self.bag(torch.cat(docs), starts))


def main():
    torch.manual_seed(6)
    topics, bag = Topics(), Bag()
    step_size = torch.optim.Adam(bag.parameters(), lr=5e-3)
    for lap in range(8):
        hit = n = 0
        for docs, labels in topics.bucketed(40):
            scores = bag(docs)
            nll = nn.functional.cross_entropy(scores, labels)
            step_size.zero_grad()
            nll.backward()
            step_size.step()
            hit += (scores.argmax(1) == labels).sum().item()
            n += len(labels)
        print("lap", lap, "loss", round(nll.item(), 3), "accuracy", round(hit / n, 3))


if __name__ == "__main__":
    main()
