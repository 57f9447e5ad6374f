"""Metric learning on digits with triplets; keeps a log for plotting."""
import collections

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier


class Log(collections.defaultdict):
    def __init__(self):
        super().__init__(list)

    def note(self, **values):
        for k, v in values.items():
            self[k].append(v)


def triplets(labels, n):
    anchor = torch.randint(0, len(labels), (n,))
    same = labels[anchor][:, None] == labels[None, :]
    pos = torch.multinomial(same.float(), 1).squeeze(1)
    neg = torch.multinomial((~same).float(), 1).squeeze(1)
    return anchor, pos, neg


def main():
    torch.manual_seed(77)
    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X / 16.0).float(), torch.tensor(y)
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    log = Log()
    for i in range(250):
        a, p, n = triplets(y[:1200], 48)
        ea, ep, en = (F.normalize(net(X[k]), dim=-1) for k in (a, p, n))
        margin = F.triplet_margin_loss(ea, ep, en, margin=0.3)
        opt.zero_grad()
        margin.backward()
        opt.step()
        log.note(step=i, triplet=margin, distance=(ea - ep).norm(dim=1).mean())
    with torch.no_grad():
        z = net(X).numpy()
    knn = KNeighborsClassifier(5).fit(z[:1200], y[:1200])
    print("loss", float(log["triplet"][-1].detach()), "knn accuracy", knn.score(z[1200:], y[1200:]), len(log["step"]))


if __name__ == "__main__":
    main()
