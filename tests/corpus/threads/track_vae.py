"""Sequential latent-variable model of short tracks: one latent per step, padded batches."""
import argparse

import torch
import torch.nn as nn

MAX_LEN, DIM = 12, 6


def make_tracks(n, gen):
    mix = torch.tensor([[1.0, 0.2, -0.5, 0.8, 0.0, 0.4], [0.1, 1.0, 0.6, -0.3, 0.9, -0.7]])
    state = torch.randn(n, 2, generator=gen)
    steps = []
    for _ in range(MAX_LEN):
        state = 0.8 * state + 0.6 * torch.randn(n, 2, generator=gen)
        steps.append(torch.tanh(state @ mix) * 2 + 0.1 * torch.randn(n, DIM, generator=gen))
    x = torch.stack(steps, dim=1)
    lengths = torch.randint(5, MAX_LEN + 1, (n,), generator=gen)
    mask = (torch.arange(MAX_LEN)[None, :] < lengths[:, None]).float()
    return x * mask.unsqueeze(-1), mask


class TrackVAE(nn.Module):
    def __init__(self, hid=48, latent=3):
        super().__init__()
        self.encoder = nn.GRU(DIM, hid, batch_first=True)
        self.mean = nn.Linear(hid, latent)
        self.log_var = nn.Linear(hid, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hid), nn.ReLU(), nn.Linear(hid, DIM))

    def forward(self, x):
        h, _ = self.encoder(x)
        mean, log_var = self.mean(h), self.log_var(h)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp() if self.training else mean
        return self.decoder(z), mean, log_var


def loss_terms(x, recon, mean, log_var, mask, noise=0.2):
    sq = ((x - recon) ** 2).sum(dim=-1) * mask
    recon_loss = sq.sum() / (2 * noise ** 2) / len(x)
    kl = (-0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())) * mask
    kl_loss = kl.sum() / len(x)
    return recon_loss, kl_loss


@torch.no_grad()
def evaluate(model, x, mask):
    model.eval()
    recon, mean, log_var = model(x)
    count = mask.sum()
    mse = (((x - recon) ** 2).mean(dim=-1) * mask).sum() / count
    base = ((x ** 2).mean(dim=-1) * mask).sum() / count
    spread = mean[mask.bool()].var(dim=0)
    return mse.item(), base.item(), int((spread > 0.05).sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    x, mask = make_tracks(1500, gen)
    test_x, test_mask = make_tracks(400, gen)
    model = TrackVAE()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        sums = torch.zeros(2)
        for idx in torch.randperm(len(x)).split(args.batch_size):
            recon, mean, log_var = model(x[idx])
            recon_loss, kl_loss = loss_terms(x[idx], recon, mean, log_var, mask[idx])
            opt.zero_grad()
            (recon_loss + kl_loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            opt.step()
            sums += torch.tensor([recon_loss.item(), kl_loss.item()]) * len(idx)
        if epoch % 4 == 0:
            mse, base, used = evaluate(model, test_x, test_mask)
            r, k = (sums / len(x)).tolist()
            print(f"epoch {epoch:2d}  recon {r:.2f}  kl {k:.2f}  test mse {mse:.4f} (mean predictor {base:.4f})  latents in use {used}")


if __name__ == "__main__":
    main()
