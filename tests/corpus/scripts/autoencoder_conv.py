"""Convolutional denoising autoencoder, BCE on sigmoid outputs, encoder and decoder as two modules, one optimiser."""

import itertools

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
x = torch.tensor(load_digits().images, dtype=torch.float32)[:, None] / 16
encoder = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU())
decoder = nn.Sequential(nn.ConvTranspose2d(16, 8, 2, 2), nn.ReLU(), nn.ConvTranspose2d(8, 1, 2, 2), nn.Sigmoid())
params = itertools.chain(encoder.parameters(), decoder.parameters())
optimizer = torch.optim.Adam(params, lr=5e-3)
criterion = nn.BCELoss()
for epoch in range(5):
    for imgs in x[torch.randperm(len(x))].split(128):
        noisy = (imgs + 0.2 * torch.randn_like(imgs)).clamp(0, 1)
        code = encoder(noisy)
        rec = decoder(code)
        loss = criterion(rec, imgs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, loss.item())
