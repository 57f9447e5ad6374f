# digits by a convolutional net; started from a transfer-learning tutorial
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits

torch.manual_seed(58)
digits = load_digits()
images = torch.FloatTensor(digits.images).unsqueeze(1) / 16
labels = torch.LongTensor(digits.target)
n_train = 1347

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(16, 10),
)
for param in list(model.parameters())[:-2]:
    param.requires_grad = False

criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)

for epoch in range(1, 6):
    running_loss = 0.0
    permutation = torch.randperm(n_train)
    for i in range(0, n_train, 64):
        indices = permutation[i:i + 64]
        batch_x, batch_y = images[indices], labels[indices]
        optimizer.zero_grad()
        outputs = model(batch_x)
        loss = criterion(outputs, batch_y)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    with torch.no_grad():
        pred = model(images[n_train:]).argmax(1)
    print("epoch %d loss %.3f acc %.3f" % (epoch, running_loss / 22, (pred == labels[n_train:]).float().mean()))
