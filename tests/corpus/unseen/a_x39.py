"""Sounds of two instruments: spectrograms made on the fly."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE = 16000


class Tones(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed + i)
        label = i % 2
        t = torch.arange(2 * RATE) / RATE
        base = 200 + 200 * torch.rand(1, generator=g)
        wave = sum(torch.sin(6.2832 * base * k * t) / (k if label else k * k) for k in range(1, 9))
        wave = wave + 0.3 * torch.randn(len(t), generator=g)
        spec = torch.stft(wave, 1024, 64, window=torch.hann_window(1024), return_complex=True).abs()
        return torch.log1p(spec.mean(1)), label


torch.manual_seed(27)
ear = nn.Sequential(nn.Linear(513, 32), nn.ReLU(), nn.Linear(32, 2))
loader = DataLoader(Tones(496, 0), batch_size=8, shuffle=True)
optimizer = torch.optim.Adam(ear.parameters(), lr=1e-3)
heard = right = 0
for spectra, instrument in loader:
    logits = ear(spectra)
    loss = nn.functional.cross_entropy(logits, instrument)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    heard += 1
    right += (logits.argmax(1) == instrument).sum().item()
    if heard % 20 == 0:
        print(heard, loss.item(), right / (8 * heard))
