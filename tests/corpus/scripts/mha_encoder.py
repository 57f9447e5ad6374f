"""nn.MultiheadAttention classifier with key_padding_mask, collate_fn with pad_sequence, class weights."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

random.seed(3)
torch.manual_seed(3)
PAD, VOCAB = 0, 40


class Bags(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            k = random.randint(4, 20)
            s = [random.randint(2, VOCAB - 1) for _ in range(k)]
            self.items.append((torch.tensor(s), int(sum(t < 12 for t in s) > k // 3)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    seqs, labels = zip(*batch)
    return pad_sequence(seqs, batch_first=True, padding_value=PAD), torch.tensor(labels)


class Attn(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.mha = nn.MultiheadAttention(d, 4, dropout=0.1, batch_first=True)
        self.norm = nn.LayerNorm(d)
        self.cls = nn.Linear(d, 2)

    def forward(self, tokens):
        pad = tokens.eq(PAD)
        h = self.embed(tokens)
        a, _ = self.mha(h, h, h, key_padding_mask=pad, need_weights=False)
        h = self.norm(h + a)
        keep = (~pad).unsqueeze(-1).float()
        pooled = (h * keep).sum(1) / keep.sum(1)
        return self.cls(pooled)


train_dl = DataLoader(Bags(600), batch_size=32, shuffle=True, collate_fn=collate)
valid_dl = DataLoader(Bags(100), batch_size=50, collate_fn=collate)
net = Attn()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loss_func = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.3]))
for epoch in range(4):
    net.train()
    for xb, yb in train_dl:
        pred = net(xb)
        loss = loss_func(pred, yb)
        loss.backward()
        opt.step()
        opt.zero_grad()
    net.eval()
    with torch.no_grad():
        valid = sum(loss_func(net(xb), yb) for xb, yb in valid_dl)
    print(epoch, valid / len(valid_dl))
