#!/usr/bin/env python3
"""record_training.py gpt|resnet [--out FILE.json.gz] [--steps 3]: records a few training steps under torch.profiler, with shapes, stacks and memory.

Needs PyTorch and a GPU (CUDA or ROCm). Under torchrun it trains data parallel and every rank writes its own file (rank 0 to --out, the others beside it).
"""
import argparse
import gzip
import os
import pathlib
import tempfile

import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.joined, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in self.joined(x).split(width, dim=2))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first_norm, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.second_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attention(self.first_norm(x))
        return x + self.mlp(self.second_norm(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary=50304, length=1024, width=768, heads=12, layers=12):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for number, block in enumerate(self.blocks):
            recomputed = number < len(self.blocks) // 2
            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) if recomputed else block(x)
        return self.head(self.norm(x))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                                  nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet18(classes=1000):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(inputs, outputs, stride), Residual(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


class Batches(torch.utils.data.Dataset):
    """Random inputs of the model's shape; the content does not matter to its speed."""

    def __init__(self, model):
        self.model = model

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        if self.model == "gpt":
            tokens = torch.randint(0, 50304, (1025,))
            return tokens[:-1], tokens[1:]
        return torch.randn(3, 224, 224), torch.randint(0, 1000, ())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["gpt", "resnet"])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("No GPU that PyTorch can use. examples/generate_trace.py writes a generated trace without one.")
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    model = (Gpt() if options.model == "gpt" else resnet18().to(memory_format=torch.channels_last)).to(device)
    if world > 1:
        torch.distributed.init_process_group("nccl")
        model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    batch = options.batch or (16 if options.model == "gpt" else 128)
    loader = iter(torch.utils.data.DataLoader(Batches(options.model), batch_size=batch, num_workers=4, pin_memory=True))

    def train_step():
        inputs, targets = (t.to(device, non_blocking=True) for t in next(loader))
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            outputs = model(inputs)
        loss = functional.cross_entropy(outputs.float().view(-1, outputs.shape[-1]), targets.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    target = options.out or pathlib.Path(f"{options.model}_training_step.json.gz")
    if rank:
        target = target.with_name(target.name.replace(".json", f".rank{rank}.json", 1))

    def write(profiler):
        with tempfile.TemporaryDirectory() as folder:
            plain = pathlib.Path(folder) / "trace.json"
            profiler.export_chrome_trace(str(plain))
            target.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")

    schedule = torch.profiler.schedule(wait=3, warmup=2, active=options.steps, repeat=1)
    with torch.profiler.profile(schedule=schedule, on_trace_ready=write, record_shapes=True, profile_memory=True, with_stack=True, with_modules=True) as profiler:
        for _ in range(5 + options.steps):
            train_step()
            profiler.step()
    if world > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
