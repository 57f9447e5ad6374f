"""Low-rank (Tucker-like) tensor completion by gradient descent with a stopping rule."""
import torch

torch.manual_seed(2)
SHAPE, RANK = (24, 20, 16), 3


def full(core, factors):
    return torch.einsum("abc,ia,jb,kc->ijk", core, *factors)


def random_tucker(scale=1.0, grad=False):
    core = (torch.randn(RANK, RANK, RANK) * scale).requires_grad_(grad)
    factors = [(torch.randn(n, RANK) * scale).requires_grad_(grad) for n in SHAPE]
    return core, factors


def relative_error(gt, approx):
    return (gt - approx).norm() / gt.norm()


def optimize(tensors, loss_function, optimizer=torch.optim.Adam, tol=1e-4, max_iter=400, print_freq=80):
    params = [tensors[0], *tensors[1]]
    opt = optimizer(params, lr=0.03)
    losses, converged = [], False
    for it in range(1, max_iter + 1):
        opt.zero_grad()
        loss = loss_function(tensors)
        loss.backward()
        opt.step()
        losses.append(loss)
        if len(losses) > 10 and it % 10 == 0:
            delta = (losses[-10] - losses[-1]) / losses[-1]
            converged = bool(losses[-1] < tol) or bool(delta.abs() < 1e-6)
        if it % print_freq == 0 or converged:
            print(f"iter {it}: loss {loss.item():.6f}")
        if converged:
            break
    return losses


truth = full(*random_tucker())
truth = truth / truth.std()
mask = torch.rand(SHAPE) < 0.35
observed = truth + 0.02 * torch.randn(SHAPE)


def loss(t):
    return ((full(*t) - observed)[mask] ** 2).mean()


model = random_tucker(0.5, grad=True)
history = optimize(model, loss)
with torch.no_grad():
    print(f"{len(history)} iterations, relative error on hidden entries {relative_error(truth[~mask], full(*model)[~mask]):.4f}")
