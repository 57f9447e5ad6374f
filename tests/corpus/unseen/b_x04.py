"""Which of two symbols came more often?  Sequences of different lengths, packed."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Counting(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        while len(self.rows) < n:
            k = int(torch.randint(4, 18, (1,), generator=g))
            row = torch.randint(1, 5, (k,), generator=g)
            a, b = (row == 1).sum(), (row == 2).sum()
            if a != b:
                self.rows.append((row, int(a > b)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    batch = sorted(batch, key=lambda pair: len(pair[0]), reverse=True)
    seqs, ys = zip(*batch)
    sizes = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), sizes, torch.tensor(ys, dtype=torch.float32)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 16, padding_idx=0)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, 1)

    def forward(self, tokens, sizes):
        packed = pack_padded_sequence(self.table(tokens), sizes, batch_first=True)
        _, last = self.rnn(packed)
        return self.out(last[-1]).squeeze(-1)


def run():
    torch.manual_seed(5)
    train = DataLoader(Counting(900, 1), batch_size=32, shuffle=True, collate_fn=collate)
    test = DataLoader(Counting(300, 2), batch_size=100, collate_fn=collate)
    reader, criterion = Reader(), nn.BCEWithLogitsLoss()
    optimiser = torch.optim.Adam(reader.parameters(), lr=6e-3)
    for epoch in range(9):
        reader.train()
        for tokens, sizes, ys in train:
            cost = criterion(reader(tokens, sizes), ys)
            cost.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
        reader.eval()
        with torch.no_grad():
            hits = sum(((reader(t, s) > 0).float() == y).sum().item() for t, s, y in test)
        print(epoch, round(cost.item(), 4), hits / 300)


if __name__ == "__main__":
    run()
