# truth: input
# cause: inline
# who waits: LINE-MARKER W
import math, random, time
import torch
from torch import nn
import torch.nn.functional as F

random.seed(11)
N, FEAT, CLASSES = 20000, 32, 10
FANOUT = (15, 10)
BATCH, STEPS_MAX = 256, 100000

print("building graph ...")
adj = {u: [] for u in range(N)}
for u in range(N):
    for _ in range(8):
        v = int(random.random() ** 2 * N)
        adj[u].append(v)
        adj[v].append(u)
features = torch.randn(N, FEAT)
labels = torch.randint(0, CLASSES, (N,))


def expand(seeds, k):
    local, order, src, dst, weight = {}, [], [], [], []
    for s in seeds:
        if s not in local:
            local[s] = len(order)
            order.append(s)
    for s in seeds:
        neigh = adj[s]
        picked = random.sample(neigh, k) if len(neigh) > k else neigh   # <P>
        for w in picked:                    # <P>
            if w not in local:              # <P>
                local[w] = len(order)       # <P>
                order.append(w)             # <P>
            src.append(local[w])            # <P>
            dst.append(local[s])            # <P>
            weight.append(1.0 / math.sqrt(len(neigh) * len(adj[w]) + 1))    # <P>
    return order, src, dst, weight


def sample_blocks(seeds):
    blocks = []
    nodes = seeds
    for k in FANOUT:
        n_dst = len(nodes)
        nodes, src, dst, weight = expand(nodes, k)              # <P>
        blocks.append((n_dst, torch.tensor(src), torch.tensor(dst), torch.tensor(weight)))
    return nodes, blocks[::-1]


class SAGELayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.me = nn.Linear(i, o)
        self.nb = nn.Linear(i, o)

    def forward(self, x, block):
        n_dst, src, dst, w = block
        agg = torch.zeros(n_dst, x.shape[1], device=x.device).index_add_(0, dst, x[src] * w[:, None])
        return self.me(x[:n_dst]) + self.nb(agg)


net = nn.ModuleList([SAGELayer(FEAT, 64), SAGELayer(64, CLASSES)]).cuda()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
order = list(range(N))
random.shuffle(order)

t_start = time.time()
t_sample = 0
for step in range(STEPS_MAX):
    at = step * BATCH % (N - BATCH)
    seeds = order[at:at + BATCH]
    tic = time.time()
    nodes, blocks = sample_blocks(seeds)                # <W> <P>
    t_sample += time.time() - tic
    x = features[nodes].cuda()
    y = labels[seeds].cuda()
    blocks = [(n, *(t.cuda() for t in rest)) for n, *rest in blocks]
    h = F.relu(net[0](x, blocks[0]))
    h = net[1](h, blocks[1])
    loss = F.cross_entropy(h, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    torch.cuda.synchronize()
    if step % 50 == 0:
        print("iter", step, "nodes", len(nodes), "edges", sum(len(b[1]) for b in blocks))
    if time.time() - t_start > 16:
        break
spent = time.time() - t_start
print("steps %d time %.1f sampling %.1f -> %.2f" % (step + 1, spent, t_sample, t_sample / spent))
