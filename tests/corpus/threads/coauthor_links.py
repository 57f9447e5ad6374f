"""Link prediction on a generated co-author graph with a two-layer graph encoder."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, roc_auc_score

NODES, GROUPS = 400, 8


def make_graph(rng):
    group = rng.integers(0, GROUPS, NODES)
    same = group[:, None] == group[None, :]
    prob = np.where(same, 0.18, 0.012)
    upper = np.triu(rng.random((NODES, NODES)) < prob, 1)
    edges = np.argwhere(upper)
    feats = rng.normal(size=(NODES, 16)) + 0.5 * np.eye(GROUPS, 16)[group]
    return torch.tensor(feats, dtype=torch.float32), edges, upper | upper.T


def split_edges(edges, rng, share=0.15):
    edges = edges[rng.permutation(len(edges))]
    cut = int(len(edges) * share)
    return torch.tensor(edges[cut:]), torch.tensor(edges[:cut])


def draw_negatives(linked, n, rng):
    pairs = []
    while len(pairs) < n:
        u, v = rng.integers(0, NODES, 2)
        if u != v and not linked[u, v]:
            pairs.append((u, v))
    return torch.tensor(pairs)


def normalized_adjacency(edges):
    a = torch.eye(NODES)
    a[edges[:, 0], edges[:, 1]] = 1.0
    a[edges[:, 1], edges[:, 0]] = 1.0
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


class LinkModel(nn.Module):
    def __init__(self, dim=16, hid=32):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(dim, hid), nn.Linear(hid, hid)
        self.bias = nn.Parameter(torch.zeros(1))

    def encode(self, x, adj):
        h = F.relu(self.lin1(adj @ x))
        return self.lin2(adj @ F.dropout(h, 0.2, self.training))

    def decode(self, z, pairs):
        return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(1) + self.bias


@torch.no_grad()
def evaluate(model, x, adj, pos, neg):
    model.eval()
    z = model.encode(x, adj)
    logits = torch.cat([model.decode(z, pos), model.decode(z, neg)])
    truth = torch.cat([torch.ones(len(pos)), torch.zeros(len(neg))]).numpy()
    loss = F.binary_cross_entropy_with_logits(logits, torch.tensor(truth)).item()
    scores = (logits.sigmoid() > 0.5).float().numpy()
    return loss, roc_auc_score(truth, scores), average_precision_score(truth, scores)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=120)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, edges, linked = make_graph(rng)
    train_pos, test_pos = split_edges(edges, rng)
    test_neg = draw_negatives(linked, len(test_pos), rng)
    adj = normalized_adjacency(train_pos)
    model = LinkModel()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
    for epoch in range(1, args.epochs + 1):
        model.train()
        neg = draw_negatives(linked, len(train_pos), rng)
        z = model.encode(x, adj)
        logits = torch.cat([model.decode(z, train_pos), model.decode(z, neg)])
        target = torch.cat([torch.ones(len(train_pos)), torch.zeros(len(neg))])
        loss = F.binary_cross_entropy_with_logits(logits, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch % 20 == 0:
            test_loss, auc, ap = evaluate(model, x, adj, test_pos, test_neg)
            print(f"epoch {epoch:3d}  loss {loss.item():.3f}  test loss {test_loss:.3f}  test AUC {auc:.3f}  test AP {ap:.3f}")


if __name__ == "__main__":
    main()
