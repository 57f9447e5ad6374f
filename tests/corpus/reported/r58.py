"""Behaviour cloning: RGB frames of a toy world to a steering command."""
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(42)
torch.manual_seed(42)


def render(n, size=16):
    """Frames (n, H, W, 3) uint8: a red goal and a blue distractor; action points to the goal."""
    frames = rng.integers(0, 60, (n, size, size, 3), dtype=np.int64)
    goal, other = rng.integers(1, size - 1, (2, n, 2))
    for i in range(n):
        (r, c), (p, q) = goal[i], other[i]
        frames[i, p - 1:p + 2, q - 1:q + 2, 2] = 230
        frames[i, r - 1:r + 2, c - 1:c + 2, 0] = 230
    action = (goal - (size - 1) / 2) / (size / 2)
    return frames.astype(np.uint8), action.astype(np.float32)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.mlp = nn.Sequential(nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, obs):
        b, h, w, c = obs.shape
        img = obs.float().reshape(b, c, h, w) / 255
        return self.mlp(self.cnn(img))


frames, actions = render(900)
obs, act = torch.from_numpy(frames), torch.from_numpy(actions)
policy = Policy()
optim = torch.optim.AdamW(policy.parameters(), lr=2e-3)
train, held = slice(0, 700), slice(700, 900)
for epoch in range(12):
    policy.train()
    for rows in torch.randperm(700).split(50):
        loss = nn.functional.smooth_l1_loss(policy(obs[rows]), act[rows])
        optim.zero_grad()
        loss.backward()
        optim.step()
    policy.eval()
    with torch.no_grad():
        mae = (policy(obs[held]) - act[held]).abs().mean()
    if epoch % 3 == 2:
        print(f"epoch {epoch} train loss {loss.item():.4f} held-out MAE {mae:.4f}")
