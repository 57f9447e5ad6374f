"""nn.Embedding.from_pretrained(freeze=True) with vectors computed by SVD; CNN over text; only the rest trains."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
V, L = 60, 15
topics = rng.integers(0, 2, 800)
docs = np.where(
    rng.random((800, L)) < 0.6, rng.integers(0, 30, (800, L)) + 30 * topics[:, None], rng.integers(0, V, (800, L))
)
cooc = np.zeros((V, V))
for doc in docs:
    for a in doc:
        cooc[a, doc] += 1
u, s, _ = np.linalg.svd(np.log1p(cooc))
vectors = torch.tensor(u[:, :16] * np.sqrt(s[:16]), dtype=torch.float32)


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors, freeze=True)
        self.convs = nn.ModuleList([nn.Conv1d(16, 12, k) for k in (2, 3)])
        self.dropout = nn.Dropout(0.3)
        self.fc = nn.Linear(24, 2)

    def forward(self, text):
        e = self.embedding(text).transpose(1, 2)
        pooled = [F.relu(c(e)).amax(-1) for c in self.convs]
        return self.fc(self.dropout(torch.cat(pooled, 1)))


net = TextCNN()
optim_ = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=5e-3)
docs, topics = torch.tensor(docs), torch.tensor(topics)
for ep in range(5):
    net.train()
    for b in torch.randperm(700).split(50):
        optim_.zero_grad()
        out = net(docs[b])
        F.cross_entropy(out, topics[b]).backward()
        optim_.step()
    net.eval()
    with torch.no_grad():
        print((net(docs[700:]).argmax(1) == topics[700:]).float().mean().item())
