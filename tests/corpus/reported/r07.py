"""Text classifier with learnt label queries attending over the tokens."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(19)
VOCAB, MAXLEN, CLASSES, DIM = 60, 20, 5, 32


def corpus(n, g):
    length = torch.randint(5, MAXLEN - 3, (n,), generator=g)
    ids = torch.randint(10, VOCAB, (n, MAXLEN), generator=g)
    label = torch.randint(0, CLASSES, (n,), generator=g)
    where = (torch.rand(n, generator=g) * length).long()
    ids[torch.arange(n), where] = 1 + label
    attention_mask = (torch.arange(MAXLEN) < length[:, None]).long()
    return ids * attention_mask, attention_mask, label


class LabelAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(CLASSES, DIM) * 0.1)
        self.k, self.v = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)

    def forward(self, x, attention_mask):
        q = self.queries.expand(len(x), -1, -1)
        mask = (attention_mask == 0).unsqueeze(1)
        return F.scaled_dot_product_attention(q, self.k(x), self.v(x), attn_mask=mask)


class TextClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.att = LabelAttention()
        self.score = nn.Linear(DIM, 1)

    def forward(self, ids, attention_mask):
        return self.score(self.att(self.emb(ids), attention_mask)).squeeze(-1)


g = torch.Generator().manual_seed(0)
train, valid = corpus(1500, g), corpus(400, g)
model = TextClassifier()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for rows in torch.randperm(1500).split(50):
        ids, mask, label = (t[rows] for t in train)
        loss = F.cross_entropy(model(ids, mask), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (model(valid[0], valid[1]).argmax(1) == valid[2]).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.3f} valid acc {acc:.3f}")
