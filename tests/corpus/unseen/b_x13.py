"""Digits, with a class that does everything."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DigitModel(nn.Module):
    def __init__(self, p=0.2):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.Flatten()
        )
        self.fc = nn.Sequential(nn.Dropout(p), nn.Linear(24 * 16, 10), nn.Softmax(dim=1))

    def forward(self, x):
        return self.fc(self.conv(x))


class Trainer:
    def __init__(self, model, train_set, test_set, lr=0.05):
        self.model = model
        self.loader = DataLoader(train_set, batch_size=50, shuffle=True)
        self.test_loader = DataLoader(test_set, batch_size=200)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for inputs, targets in self.loader:
            self.optimizer.zero_grad()
            outputs = self.model(inputs)
            loss = self.criterion(outputs, targets)
            loss.backward()
            self.optimizer.step()
            running += loss.item()
        return running / len(self.loader)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        correct = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.test_loader)
        return correct / len(self.test_loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(0)
    data = load_digits()
    X = torch.tensor(data.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(data.target)
    trainer = Trainer(DigitModel(), TensorDataset(X[:1300], y[:1300]), TensorDataset(X[1300:], y[1300:]))
    for epoch in range(1, 7):
        print(f"Epoch {epoch}: loss {trainer.train_epoch():.4f} acc {trainer.evaluate():.4f}")
