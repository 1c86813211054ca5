# truth: input
# cause: prep
# who waits: LINE-MARKER W
import math
import multiprocessing
import random
import time

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

NUM_ENVS = 2
ROLLOUT = 16
UPDATES = 10 ** 6
LINKS = 12


class ChainEnv:
    """A chain of point masses joined by springs, integrated with small Euler steps."""

    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.reset()

    def reset(self):
        self.p = [[float(i), self.rnd.uniform(-.1, .1)] for i in range(LINKS)]
        self.v = [[0.0, 0.0] for _ in range(LINKS)]
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.array([c for xy in self.p for c in xy] + [c for xy in self.v for c in xy], dtype=np.float32)

    def _integrate(self, fx, fy, dt=0.002):
        for i in range(LINKS):                                  # <P>
            ax, ay = (fx, fy) if i == LINKS - 1 else (0.0, 0.0)
            for j in (i - 1, i + 1):                            # <P>
                if 0 <= j < LINKS:
                    dx = self.p[j][0] - self.p[i][0]            # <P>
                    dy = self.p[j][1] - self.p[i][1]            # <P>
                    r = math.sqrt(dx * dx + dy * dy) + 1e-6     # <P>
                    k = 40.0 * (r - 1.0) / r                    # <P>
                    ax += k * dx                                # <P>
                    ay += k * dy                                # <P>
            vi = self.v[i]                                      # <P>
            vi[0] = (vi[0] + ax * dt) * 0.999                   # <P>
            vi[1] = (vi[1] + (ay - 9.8) * dt) * 0.999           # <P>
        for i in range(1, LINKS):                               # <P>
            self.p[i][0] += self.v[i][0] * dt                   # <P>
            self.p[i][1] += self.v[i][1] * dt                   # <P>

    def step(self, action):
        ang = action * math.pi / 4
        for _ in range(600):                                    # <P>
            self._integrate(20 * math.cos(ang), 20 * math.sin(ang))   # <P>
        self.t += 1
        reward = self.p[-1][1]
        done = self.t >= 200
        obs = self.reset() if done else self._obs()
        return obs, reward, done


def worker(remote, parent_remote, seed):
    parent_remote.close()
    env = ChainEnv(seed)
    try:
        while True:
            cmd, data = remote.recv()
            if cmd == "step":
                remote.send(env.step(data))  # <P>
            elif cmd == "reset":
                remote.send(env.reset())
            elif cmd == "close":
                break
    except EOFError:
        pass
    finally:
        remote.close()


class SubprocVecEnv:
    def __init__(self, n):
        ctx = multiprocessing.get_context("fork")
        self.remotes, work = zip(*[ctx.Pipe() for _ in range(n)])
        self.ps = []
        for i, (w, r) in enumerate(zip(work, self.remotes)):
            p = ctx.Process(target=worker, args=(w, r, i), daemon=True)
            p.start()
            w.close()
            self.ps.append(p)
        self.blocked = 0.0

    def reset(self):
        for r in self.remotes:
            r.send(("reset", None))
        return np.stack([r.recv() for r in self.remotes])

    def step_async(self, actions):
        for r, a in zip(self.remotes, actions):
            r.send(("step", int(a)))

    def step_wait(self):
        t = time.time()
        results = [r.recv() for r in self.remotes]  # <W>
        self.blocked += time.time() - t
        obs, rew, done = zip(*results)
        return np.stack(obs), np.array(rew, np.float32), np.array(done, np.float32)

    def step(self, actions):
        self.step_async(actions)
        return self.step_wait()  # <W>

    def close(self):
        for r in self.remotes:
            r.send(("close", None))
        for p in self.ps:
            p.join()


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.pi = nn.Linear(256, n_act)
        self.vf = nn.Linear(256, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.vf(h).squeeze(-1)


def main(budget=14.0):
    envs = SubprocVecEnv(NUM_ENVS)
    ac = ActorCritic(4 * LINKS, 8).to("cuda")
    optimizer = torch.optim.RMSprop(ac.parameters(), lr=7e-4)
    rng = np.random.default_rng(0)
    obs = envs.reset()
    start = time.time()
    for update in range(UPDATES):
        buf_o, buf_a, buf_r = [], [], []
        for _ in range(ROLLOUT):
            o = torch.from_numpy(obs).cuda()
            with torch.no_grad():
                logits, _ = ac(o)
                logits.cpu()
            # epsilon = 1 while the replay is warming up
            act = rng.integers(0, 8, NUM_ENVS)
            obs, rew, done = envs.step(act)  # <W>
            buf_o.append(o)
            buf_a.append(torch.as_tensor(act).cuda())
            buf_r.append(torch.from_numpy(rew).cuda())
        O, A, R = torch.cat(buf_o), torch.cat(buf_a), torch.cat(buf_r)
        logits, v = ac(O)
        logp = torch.log_softmax(logits, -1).gather(1, A[:, None]).squeeze(1)
        adv = R - v
        loss = -(logp * adv.detach()).mean() + 0.5 * adv.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"update {update:3d}  fps {(update + 1) * ROLLOUT * NUM_ENVS / (time.time() - start):.0f}", flush=True)
        if time.time() - start > budget:
            break
    t = time.time() - start
    envs.close()
    print(f"total {t:.2f} env wait {envs.blocked:.2f} share {envs.blocked / t:.2f}")


if __name__ == "__main__":
    main()
