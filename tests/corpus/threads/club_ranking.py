"""Pairwise ranking of films for the members of a film club (matrix factorization, BPR)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

USERS, FILMS, TOP_K = 200, 160, 10


def make_views(rng):
    taste = rng.normal(size=(USERS, 4))
    film = rng.normal(size=(FILMS, 4))
    score = taste @ film.T + rng.normal(size=(USERS, FILMS)) * 0.4
    liked = score > np.quantile(score, 0.60, axis=1, keepdims=True)
    held_out = liked & (rng.random(liked.shape) < 0.2)
    return liked & ~held_out, held_out


class Factorization(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.user = nn.Embedding(USERS, dim)
        self.film = nn.Embedding(FILMS, dim)
        self.bias = nn.Embedding(FILMS, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.film.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.film(i)).sum(1) + self.bias(i).squeeze(1)

    def all_scores(self):
        return self.user.weight @ self.film.weight.T + self.bias.weight.T


class TripleSampler:
    def __init__(self, seen, batch_size, seed):
        self.seen = torch.tensor(seen)
        self.users, self.films = self.seen.nonzero(as_tuple=True)
        self.batch_size = batch_size
        self.gen = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for idx in torch.randperm(len(self.users), generator=self.gen).split(self.batch_size):
            u, pos = self.users[idx], self.films[idx]
            neg = torch.randint(0, FILMS, (len(idx),), generator=self.gen)
            clash = self.seen[u, neg]
            while clash.any():
                neg[clash] = torch.randint(0, FILMS, (int(clash.sum()),), generator=self.gen)
                clash = self.seen[u, neg]
            yield u, pos, neg


def dcg(gains):
    return (gains / torch.log2(torch.arange(2, gains.size(1) + 2).float())).sum(1)


@torch.no_grad()
def evaluate(model, seen, held_out):
    scores = model.all_scores().masked_fill(torch.tensor(seen), -1e9)
    truth = torch.tensor(held_out)
    has = truth.any(1)
    truth = truth[has]
    top = scores[has].topk(TOP_K, dim=1).indices
    hits = truth.gather(1, top).float()
    ideal = dcg(hits.sort(dim=1, descending=True).values)
    ndcg = torch.where(ideal > 0, dcg(hits) / ideal.clamp(min=1e-9), torch.zeros_like(ideal))
    recall = hits.sum(1) / truth.sum(1)
    return ndcg.mean().item(), recall.mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--reg", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    seen, held_out = make_views(rng)
    sampler = TripleSampler(seen, 256, args.seed)
    model = Factorization()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        total = count = 0
        for u, pos, neg in sampler:
            diff = model(u, pos) - model(u, neg)
            penalty = (model.user(u) ** 2).sum(1) + (model.film(pos) ** 2).sum(1) + (model.film(neg) ** 2).sum(1)
            loss = -F.logsigmoid(diff).mean() + args.reg * penalty.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(u)
            count += len(u)
        if epoch % 5 == 0:
            ndcg, recall = evaluate(model, seen, held_out)
            print(f"epoch {epoch:2d}  loss {total / count:.4f}  NDCG@{TOP_K} {ndcg:.3f}  recall@{TOP_K} {recall:.3f}")


if __name__ == "__main__":
    main()
