"""GCN on a fixed graph: full-batch, dense normalised adjacency, train/val masks, semi-supervised."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
n, c = 150, 3
lab = torch.arange(n) % c
feat = torch.randn(n, 12) + 0.8 * F.one_hot(lab, 12).float()
same = lab[:, None] == lab[None]
A = (torch.rand(n, n) < torch.where(same, 0.12, 0.02)).float()
A = ((A + A.T) > 0).float() + torch.eye(n)
dinv = A.sum(1).rsqrt()
A = dinv[:, None] * A * dinv[None]
train_mask = torch.zeros(n, dtype=torch.bool)
train_mask[:60] = True


class GCNLayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(i, o))
        self.bias = nn.Parameter(torch.zeros(o))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return adj @ (x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = GCNLayer(12, 16), GCNLayer(16, c)

    def forward(self, x, adj):
        return self.l2(F.dropout(F.relu(self.l1(x, adj)), 0.5, training=self.training), adj)


gcn = GCN()
optimizer = torch.optim.Adam(gcn.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(80):
    gcn.train()
    optimizer.zero_grad()
    out = gcn(feat, A)
    loss_train = F.cross_entropy(out[train_mask], lab[train_mask])
    loss_train.backward()
    optimizer.step()
    gcn.eval()
    with torch.no_grad():
        acc = (gcn(feat, A).argmax(1) == lab)[~train_mask].float().mean()
print(acc.item())
