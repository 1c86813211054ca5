#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators one after another: products of all types, elements and rows, attention by each backend, optimizers, a transformer's step,
linear algebra. Each is preceded by a copy to the device of MARK bytes, so that a trace shows where it begins, and one line
says how it went. Names as arguments: only these."""
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

MARK = 777
PARTS = {}
WIDTH, LAYERS, HEADS, VOCABULARY = 256, 2, 4, 1000


def part(f, name=None):
    PARTS[name or f.__name__] = f
    return f


def new(*shape, dtype=torch.float32, grad=False):
    """Any numbers: nothing is launched to make them."""
    return torch.empty(*shape, dtype=dtype, device='cuda', requires_grad=grad)


def some(*shape):
    return torch.randn(*shape).cuda()


# ---- products

@part
def linear():
    F.linear(new(64, 768), new(3072, 768), new(3072))


def product(dtype):
    torch.matmul(new(1024, 512, dtype=dtype), new(512, 2048, dtype=dtype))


for name in ('float32', 'float64', 'float16', 'bfloat16', 'complex64'):
    part(lambda dtype=getattr(torch, name): product(dtype), f'product-{name}')


@part
def tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    product(torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = False


@part
def batched():
    torch.bmm(new(32, 64, 128, dtype=torch.bfloat16), new(32, 128, 256, dtype=torch.bfloat16))
    torch.baddbmm(new(32, 64, 256), new(32, 64, 128), new(32, 128, 256))


@part
def vectors():
    torch.mv(new(1024, 512), new(512))
    torch.dot(new(4096), new(4096))


@part
def integers():
    torch._int_mm(new(32, 64, dtype=torch.int8), new(64, 32, dtype=torch.int8))


@part
def eights():
    one = torch.ones((), device='cuda')
    a, b = new(32, 64, dtype=torch.float8_e4m3fn), new(32, 64, dtype=torch.float8_e4m3fn)
    torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


@part
def activation():
    torch._addmm_activation(new(32), new(16, 64), new(64, 32), use_gelu=True)


@part
def autocast():
    layer = nn.Linear(WIDTH, WIDTH, device='cuda')
    with torch.autocast('cuda', torch.bfloat16):
        layer(new(64, WIDTH)).float().sum().backward()


# ---- elements

MANY = 1 << 26


@part
def elements():
    new(MANY).fill_(1)
    new(MANY, dtype=torch.bool).fill_(True)
    half = new(MANY, dtype=torch.bfloat16)
    half + half
    half.float()
    half.view(8192, 8192).t().contiguous()


@part
def rows():
    x = new(MANY // 1024, 1024)
    F.softmax(x, -1)
    F.layer_norm(x, (1024,))
    F.softmax(x.view(-1, 4096), -1)


@part
def sums():
    new(MANY).sum()
    new(8192, 8192).sum(0)
    new(8192, 8192, dtype=torch.bfloat16).amax(1)


# ---- attention

def attention(backend, dtype=torch.bfloat16):
    q, k, v = (new(4, HEADS, 512, 64, dtype=dtype, grad=True) for _ in range(3))
    with sdpa_kernel(backend):
        F.scaled_dot_product_attention(q, k, v).sum().backward()


for name in ('FLASH_ATTENTION', 'EFFICIENT_ATTENTION', 'MATH', 'CUDNN_ATTENTION'):
    part(lambda backend=getattr(SDPBackend, name): attention(backend), name.split('_')[0].lower())
part(lambda: attention(list(SDPBackend.__members__.values())[2:], torch.float32), 'attention-float32')


@part
def attention_default():
    F.scaled_dot_product_attention(*(new(4, HEADS, 512, 64, dtype=torch.bfloat16) for _ in range(3)))


# ---- training

def steps(**kind):
    weights = [new(1000, 100, grad=True) for _ in range(3)]
    for w in weights:
        w.grad = new(1000, 100)
    optimizer = torch.optim.AdamW(weights, **kind)
    for _ in range(4):
        optimizer.step()


part(lambda: steps(fused=True), 'adamw-fused')
part(lambda: steps(foreach=True), 'adamw-foreach')


@part
def transformer():
    """A step of training as it is usually written."""
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, batch_first=True, dropout=0.0, device='cuda')
    body = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    embed, head = nn.Embedding(VOCABULARY, WIDTH, device='cuda'), nn.Linear(WIDTH, VOCABULARY, device='cuda')
    weights = [*body.parameters(), *embed.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(weights, fused=True)
    tokens = torch.randint(0, VOCABULARY, (8, 64)).cuda()
    with torch.autocast('cuda', torch.bfloat16):
        logits = head(body(embed(tokens)))
        loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(weights, 1.0, foreach=True)
    optimizer.step()


@part
def scaler():
    layer, scale = nn.Linear(WIDTH, WIDTH, device='cuda'), torch.amp.GradScaler()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    with torch.autocast('cuda', torch.float16):
        loss = layer(new(64, WIDTH)).sum()
    scale.scale(loss).backward()
    scale.step(optimizer)
    scale.update()


# ---- linear algebra, and what other libraries do

def algebra(**calls):
    for name, call in calls.items():
        part(call, name)


algebra(
    norm=lambda: torch.linalg.norm(some(64, 64)),
    triangular=lambda: torch.linalg.solve_triangular(some(64, 64), some(64, 8), upper=True),
    matrix_power=lambda: torch.linalg.matrix_power(some(16, 16), 5),
    solve=lambda: torch.linalg.solve(some(64, 64), some(64, 2)),
    inv=lambda: torch.linalg.inv(some(64, 64)),
    cholesky=lambda: torch.linalg.cholesky(torch.eye(64).cuda()),
    qr=lambda: torch.linalg.qr(some(64, 32)),
    svd=lambda: torch.linalg.svd(some(32, 32)),
    eigh=lambda: torch.linalg.eigh(some(32, 32)),
    lstsq=lambda: torch.linalg.lstsq(some(64, 32), some(64, 2)),
    det=lambda: torch.linalg.det(some(16, 16)),
    solve_many=lambda: torch.linalg.solve(some(10, 16, 16), some(10, 16, 2)),
    fft=lambda: torch.fft.fft(some(1024)),
    lstm=lambda: nn.LSTM(32, 64, device='cuda')(some(5, 3, 32)),
)


@part
def lstm_by_hand():
    """Without cuDNN."""
    with torch.backends.cudnn.flags(enabled=False):
        nn.LSTM(32, 64, device='cuda')(some(5, 3, 32))


def play(name):
    torch.empty(MARK, dtype=torch.uint8, pin_memory=True).to('cuda', non_blocking=True)
    try:
        PARTS[name]()
        torch.cuda.synchronize()
    except Exception as e:
        return f'{type(e).__name__}: ' + str(e).split('\n')[0]
    return 'done'


def main():
    warnings.simplefilter('always')
    torch.manual_seed(1)
    for name in sys.argv[1:] or PARTS:
        print(f'{name}: {play(name)}', flush=True)


if __name__ == '__main__':
    sys.exit(main())
