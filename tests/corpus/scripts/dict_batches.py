"""In the manner of transformer libraries: dict batches, an attention mask, an output object that holds the loss."""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Output:
    loss: torch.Tensor | None
    logits: torch.Tensor


class Encoder(nn.Module):
    def __init__(self, vocab=50, dim=32, labels=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.position = nn.Embedding(40, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classifier = nn.Linear(dim, labels)

    def forward(self, input_ids, attention_mask, labels=None):
        where = torch.arange(input_ids.shape[1])
        hidden = self.embed(input_ids) + self.position(where)
        hidden = self.encoder(hidden, src_key_padding_mask=attention_mask == 0)
        weight = attention_mask.unsqueeze(-1).float()
        logits = self.classifier((hidden * weight).sum(1) / weight.sum(1))
        return Output(F.cross_entropy(logits, labels) if labels is not None else None, logits)


def collate(rows):
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, (tokens, _) in enumerate(rows):
        ids[i, : len(tokens)] = torch.tensor(tokens)
        mask[i, : len(tokens)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([label for _, label in rows])}


def make(n, gen):
    rows = []
    for _ in range(n):
        label = int(torch.randint(3, (1,), generator=gen))
        length = int(torch.randint(4, 20, (1,), generator=gen))
        words = torch.randint(4, 50, (length,), generator=gen).tolist()
        words[int(torch.randint(length, (1,), generator=gen))] = 1 + label
        rows.append((words, label))
    return rows


torch.manual_seed(42)
gen = torch.Generator().manual_seed(42)
data = torch.utils.data.DataLoader(make(640, gen), batch_size=32, shuffle=True, collate_fn=collate)
model = Encoder()
optim = torch.optim.AdamW(model.parameters(), lr=2e-3)
model.train()
for epoch in range(5):
    for batch in data:
        out = model(**batch)
        out.loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        optim.zero_grad()
model.eval()
with torch.no_grad():
    test = collate(make(200, gen))
    print("accuracy", (model(**test).logits.argmax(-1) == test["labels"]).float().mean().item())
