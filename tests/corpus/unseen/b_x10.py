"""Node classification on a random block graph; message passing by hand."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(4)
N, C = 300, 3
block = torch.randint(0, C, (N,))
prob = torch.where(block[:, None] == block[None, :], 0.06, 0.008)
upper = torch.triu((torch.rand(N, N) < prob), diagonal=1)
i, j = upper.nonzero(as_tuple=True)
src, dst = torch.cat([i, j, torch.arange(N)]), torch.cat([j, i, torch.arange(N)])
feats = F.one_hot(block, C).float() * 0.6 + torch.randn(N, C)
feats = torch.cat([feats, torch.randn(N, 5)], 1)
mask = torch.rand(N) < 0.3
val = ~mask


class Conv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.lin = nn.Linear(a, b)

    def forward(self, x, src, dst):
        deg = torch.zeros(len(x)).index_add(0, dst, torch.ones(len(dst)))
        msg = self.lin(x)[src]
        return torch.zeros(len(x), msg.shape[1]).index_add(0, dst, msg) / deg[:, None]


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = Conv(8, 32), Conv(32, C)

    def forward(self, x):
        x = F.relu(self.c1(x, src, dst))
        x = F.dropout(x, 0.5, training=self.training)
        return F.log_softmax(self.c2(x, src, dst), dim=1)


gcn = GCN()
adam = torch.optim.Adam(gcn.parameters(), lr=0.02, weight_decay=5e-4)
best, patience, state = 0.0, 0, None
for epoch in range(200):
    gcn.train()
    adam.zero_grad()
    loss = F.nll_loss(gcn(feats)[mask], block[mask])
    loss.backward()
    adam.step()
    gcn.eval()
    with torch.no_grad():
        acc = (gcn(feats).argmax(1) == block)[val].float().mean().item()
    if acc > best:
        best, patience = acc, 0
        state = {k: v.clone() for k, v in gcn.state_dict().items()}
    else:
        patience += 1
    if patience > 60:
        print("early stop at", epoch)
        break
gcn.load_state_dict(state)
print("validation accuracy", best)
