"""Two-layer network written with raw parameters, digits."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(18)
features, labels = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(features / 16.0, labels, test_size=0.25, random_state=18)
X_train, X_test = torch.tensor(X_train).float(), torch.tensor(X_test).float()
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

n_input, n_hidden, n_classes = 64, 100, 10
weights = {
    "h1": torch.zeros(n_input, n_hidden, requires_grad=True),
    "out": torch.zeros(n_hidden, n_classes, requires_grad=True),
}
biases = {
    "h1": torch.zeros(n_hidden, requires_grad=True),
    "out": torch.zeros(n_classes, requires_grad=True),
}


def perceptron(x):
    layer = torch.tanh(x @ weights["h1"] + biases["h1"])
    return layer @ weights["out"] + biases["out"]


def accuracy(x, y):
    with torch.no_grad():
        return (perceptron(x).argmax(1) == y).float().mean().item()


optimizer = torch.optim.SGD([*weights.values(), *biases.values()], lr=0.1, momentum=0.9)
batch_size = 64
for epoch in range(1, 13):
    avg_cost = 0.0
    for rows in torch.randperm(len(X_train)).split(batch_size):
        cost = torch.nn.functional.cross_entropy(perceptron(X_train[rows]), y_train[rows])
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
        avg_cost += cost.item() * len(rows) / len(X_train)
    if epoch % 4 == 0:
        print(f"Epoch {epoch:02d} cost={avg_cost:.4f} train {accuracy(X_train, y_train):.3f} test {accuracy(X_test, y_test):.3f}")
