"""Gaussian mixture of the wine measurements, fitted by gradient ascent on the log-likelihood."""
import argparse
import math

import torch
import torch.nn as nn
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler


class Mixture(nn.Module):
    def __init__(self, centres, k):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(k))
        self.means = nn.Parameter(centres.clone())
        self.log_scale = nn.Parameter(torch.zeros(k, centres.size(1)))

    def component_log_prob(self, x):
        z = (x.unsqueeze(1) - self.means) * (-self.log_scale).exp()
        log_n = -0.5 * (z ** 2).sum(-1) - self.log_scale.sum(-1) - 0.5 * x.size(1) * math.log(2 * math.pi)
        return log_n + self.logits.log_softmax(0)

    def forward(self, x):
        return self.component_log_prob(x).logsumexp(dim=1)


@torch.no_grad()
def report(model, x, labels):
    groups = model.component_log_prob(x).argmax(1)
    return adjusted_rand_score(labels, groups.numpy()), torch.bincount(groups, minlength=3).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--components", type=int, default=3)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    table, labels = load_wine(return_X_y=True)
    table = PCA(4).fit_transform(StandardScaler().fit_transform(table))
    x = torch.tensor(table, dtype=torch.float32)
    order = torch.randperm(len(x), generator=gen)
    train, held = x[order[:140]], x[order[140:]]
    start = KMeans(args.components, n_init=4, random_state=args.seed).fit(train.numpy()).cluster_centers_
    model = Mixture(torch.tensor(start, dtype=torch.float32), args.components)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, maximize=True)
    for step in range(1, args.steps + 1):
        score = model(train).mean() - 1e-3 * model.log_scale.pow(2).sum()
        opt.zero_grad()
        score.backward()
        opt.step()
        with torch.no_grad():
            model.log_scale.clamp_(min=-2.0)
        if step % 100 == 0:
            with torch.no_grad():
                held_score = model(held).mean().item()
            rand, sizes = report(model, x, labels)
            print(f"step {step:3d}  score {score.item():.3f}  held-out score {held_score:.3f}"
                  f"  agreement with cultivars {rand:.3f}  group sizes {sizes}")


if __name__ == "__main__":
    main()
