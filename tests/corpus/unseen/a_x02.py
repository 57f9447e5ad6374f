# ratings with sparse embeddings and two optimisers
import torch

torch.manual_seed(23)
n_people, n_books = 150, 90
P, B = torch.randn(n_people, 3), torch.randn(n_books, 3)
obs = torch.randint(0, n_people, (8000,)), torch.randint(0, n_books, (8000,))
rating = (P[obs[0]] * B[obs[1]]).sum(-1) + 0.2 * torch.randn(8000) + 3

people = torch.nn.Embedding(n_people, 5, sparse=True)
books = torch.nn.Embedding(n_books, 5, sparse=True)
offset = torch.nn.Parameter(torch.tensor(0.0))
for e in (people, books):
    torch.nn.init.normal_(e.weight, 0, 0.4)
sparse = torch.optim.SparseAdam([*people.parameters(), *books.parameters()], lr=0.03)
dense = torch.optim.SGD([offset], lr=0.1)


def guess(i):
    return (people(obs[0][i]) * books(obs[1][i])).sum(-1) + offset


for sweep in range(7):
    for i in torch.randperm(7000).split(200):
        err = (guess(i) - rating[i]).pow(2).mean()
        for o in (sparse, dense):
            o.zero_grad()
        err.backward()
        for o in (sparse, dense):
            o.step()
    held = torch.arange(7000, 8000)
    with torch.no_grad():
        print(sweep, err.item(), "held out", (guess(held) - rating[held]).pow(2).mean().item())
print("offset", offset.item(), "variance", rating.var().item())
