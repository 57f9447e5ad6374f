"""Pooling by attention over bags of instances; bags differ in size."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Bags(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.bags = []
        for _ in range(n):
            k = int(torch.randint(2, 25, (1,), generator=g))
            inst = torch.randn(k, 6, generator=g)
            y = int(torch.randint(0, 2, (1,), generator=g))
            inst[:, 0] = -inst[:, 0].abs()
            if y:
                inst[0, 0] = 1.0 + torch.rand(1, generator=g)[0]
            self.bags.append((inst[torch.randperm(k, generator=g)], y))

    def __len__(self):
        return len(self.bags)

    def __getitem__(self, i):
        return self.bags[i]


def pad(batch):
    sizes = torch.tensor([len(b) for b, _ in batch])
    x = nn.utils.rnn.pad_sequence([b for b, _ in batch], batch_first=True)
    present = torch.arange(x.shape[1])[None] < sizes[:, None]
    return x, present, torch.tensor([y for _, y in batch]).float()


class Pool(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(6, d), nn.Tanh())
        self.score = nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, 1))
        self.clf = nn.Linear(d, 1)

    def forward(self, x, present):
        h = self.feat(x)
        alpha = torch.softmax(self.score(h).squeeze(-1), dim=1)
        alpha = alpha * present
        return self.clf(torch.einsum("bn,bnd->bd", alpha, h)).squeeze(-1)


def main():
    torch.manual_seed(47)
    train = DataLoader(Bags(1000, 1), 25, shuffle=True, collate_fn=pad)
    test = DataLoader(Bags(300, 2), 25, collate_fn=pad)
    pool = Pool()
    opt = torch.optim.Adam(pool.parameters(), lr=2e-3)
    for epoch in range(7):
        pool.train()
        for x, present, y in train:
            loss = nn.functional.binary_cross_entropy_with_logits(pool(x, present), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        pool.eval()
        with torch.no_grad():
            ok = sum(((pool(x, m) > 0) == y.bool()).sum().item() for x, m, y in test) / 300
        print(epoch, loss.item(), ok)


main()
