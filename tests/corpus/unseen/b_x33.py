"""Soft clustering of points: minimise distance, and an entropy price on the assignments."""
import torch
from sklearn.datasets import make_blobs

torch.manual_seed(13)
pts, _ = make_blobs(600, centers=5, cluster_std=0.6, random_state=13)
pts = torch.tensor(pts, dtype=torch.float32)
pts = (pts - pts.mean(0)) / pts.std(0)


class SoftKMeans(torch.nn.Module):
    def __init__(self, k=5, sharp=1.0):
        super().__init__()
        self.centres = torch.nn.Parameter(pts[torch.randperm(len(pts))[:k]].clone())
        self.log_sharp = torch.nn.Parameter(torch.tensor(sharp).log())

    def forward(self, x):
        d2 = (x[:, None] - self.centres[None]).square().sum(-1)
        share = torch.softmax(-self.log_sharp.exp() * d2, dim=1)
        return share, d2


def price(share, d2, weight):
    entropy = -(share * torch.log(share)).sum(1)
    return (share * d2).sum(1).mean() + weight * entropy.mean()


model = SoftKMeans()
opt = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(160):
    share, d2 = model(pts[torch.randint(0, 600, (128,))])
    total = price(share, d2, 0.3)
    opt.zero_grad()
    total.backward()
    opt.step()
    if step % 20 == 0:
        print(step, total.item(), model.log_sharp.exp().item())
print("centres", model.centres.detach().numpy().round(2).tolist())
