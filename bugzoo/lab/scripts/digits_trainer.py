"""Handwritten digits, 8 x 8: a small convolutional network, trained by a class with `fit`."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)


class Trainer:
    def __init__(self, model: nn.Module, lr: float):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, loader: DataLoader, held_out: DataLoader, epochs: int):
        for epoch in range(epochs):
            self.model.train()
            for images, labels in loader:
                loss = F.cross_entropy(self.model(images), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            validation_loss, accuracy = self.evaluate(held_out)
            print(f"epoch {epoch + 1}: validation loss {validation_loss:.3f}, accuracy {accuracy:.3f}")
        return validation_loss, accuracy

    @torch.no_grad()
    def evaluate(self, loader: DataLoader):
        self.model.eval()
        summed, right, count = 0.0, 0, 0
        for images, labels in loader:
            logits = self.model(images)
            summed += F.cross_entropy(logits, labels, reduction="sum").item()
            right += (logits.argmax(1) == labels).sum().item()
            count += len(labels)
        return summed / count, right / count


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
train_set, val_set = random_split(TensorDataset(images, torch.tensor(digits.target)), [1437, 360])

model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(32 * 16, 10),
)
trainer = Trainer(model, lr=2e-3)
loss, accuracy = trainer.fit(DataLoader(train_set, 64, shuffle=True), DataLoader(val_set, 128), epochs=8)
metrics = {"loss": loss, "accuracy": accuracy}
