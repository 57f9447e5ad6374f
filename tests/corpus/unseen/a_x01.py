"""Tagging: each document may have several of six tags."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

VOCAB, TAGS = 120, 6


class Documents(Dataset):
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        table = torch.Generator().manual_seed(0)
        signal = torch.rand(TAGS, VOCAB, generator=table).pow(6)
        self.items = []
        for _ in range(n):
            tags = (torch.rand(TAGS, generator=gen) < 0.3).float()
            p = 0.02 + tags @ signal
            words = torch.multinomial(p, int(torch.randint(10, 40, (1,), generator=gen)), replacement=True, generator=gen)
            self.items.append((words, tags))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def stack(items):
    flat = torch.cat([w for w, _ in items])
    offsets = torch.tensor([0] + [len(w) for w, _ in items]).cumsum(0)[:-1]
    return flat, offsets, torch.stack([t for _, t in items])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, 32, mode="mean")
        self.net = nn.Sequential(nn.ReLU(), nn.Linear(32, TAGS))

    def forward(self, flat, offsets):
        return self.net(self.emb(flat, offsets))


def main():
    torch.manual_seed(18)
    tr = DataLoader(Documents(1200, 1), 40, shuffle=True, collate_fn=stack)
    te = DataLoader(Documents(300, 2), 100, collate_fn=stack)
    tagger = Tagger()
    opt = torch.optim.Adagrad(tagger.parameters(), lr=0.15)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.full((TAGS,), 1.5))
    for epoch in range(6):
        for flat, offsets, tags in tr:
            loss = criterion(tagger(flat, offsets), tags)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            hit = torch.cat([((tagger(f, o).sigmoid() > 0.5) == t.bool()).float() for f, o, t in te])
        print(f"epoch {epoch} loss {loss.item():.3f} tags right {hit.mean():.3f}")


if __name__ == "__main__":
    main()
