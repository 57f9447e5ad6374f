import numpy as np
import torch
from sklearn.datasets import load_diabetes

np.random.seed(0)
torch.manual_seed(0)
A, b = load_diabetes(return_X_y=True)
perm = np.random.permutation(len(A))
A, b = A[perm], b[perm]
mu, sd = A[:350].mean(0), A[:350].std(0)
A = (A - mu) / sd
bm, bs = b[:350].mean(), b[:350].std()
b = (b - bm) / bs
A_tr, b_tr = torch.from_numpy(A[:350]).float(), torch.from_numpy(b[:350]).float().unsqueeze(1)
A_te, b_te = torch.from_numpy(A[350:]).float(), torch.from_numpy(b[350:]).float().unsqueeze(1)

f = torch.nn.Sequential(torch.nn.Linear(10, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
lbfgs = torch.optim.LBFGS(f.parameters(), lr=0.5, max_iter=6, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    err = torch.nn.functional.mse_loss(f(A_tr), b_tr)
    err = err + 0.02 * sum(p.pow(2).sum() for p in f.parameters())
    err.backward()
    return err


trail = []
for k in range(70):
    trail.append(lbfgs.step(closure).item())
print("start", trail[0], "end", trail[-1])
with torch.no_grad():
    print("test r2", 1 - ((f(A_te) - b_te) ** 2).mean().item() / b_te.var().item())
