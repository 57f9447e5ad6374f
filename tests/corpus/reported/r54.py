"""Binary-weight network: custom autograd function and hand-written SGD."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(40)


class Binarise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0) * w.abs().mean()

    @staticmethod
    def backward(ctx, grad_out):
        (w,) = ctx.saved_tensors
        return grad_out * (w.abs() <= 1).float()


class BinaryMLP:
    def __init__(self, sizes):
        self.w = [(torch.randn(o, i) * 0.1).requires_grad_() for i, o in zip(sizes[:-1], sizes[1:])]
        self.b = [torch.zeros(o, requires_grad=True) for o in sizes[1:]]
        self.velocity = [torch.zeros_like(p) for p in self.parameters()]

    def parameters(self):
        return self.w + self.b

    def __call__(self, x):
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            x = F.linear(x, Binarise.apply(w), b)
            if i < len(self.w) - 1:
                x = F.hardtanh(x)
        return x

    def sgd(self, lr, momentum=0.9):
        with torch.no_grad():
            for p, v in zip(self.parameters(), self.velocity):
                v.mul_(momentum).add_(p.grad)
                p -= lr * v
                p.grad = None
            for w in self.w:
                w.clamp_(-1, 1)


X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 8 - 1, torch.tensor(y)
perm = torch.randperm(len(X))
tr, te = perm[:1400], perm[1400:]
net = BinaryMLP([64, 96, 10])
for epoch in range(10):
    lr = 0.05 * (1 - epoch / 10)
    for rows in tr[torch.randperm(len(tr))].split(50):
        loss = F.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        net.sgd(lr)
    with torch.no_grad():
        acc = (net(X[te]).argmax(1) == y[te]).float().mean()
    if epoch % 3 == 0:
        print(f"epoch {epoch} lr {lr:.3f} loss {loss.item():.3f} test acc {acc:.3f}")
