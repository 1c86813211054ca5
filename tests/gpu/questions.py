# SPDX-License-Identifier: Apache-2.0
"""What a real GPU has to settle, in the order of the table: its points, the parts that answer to
them, and for each the questions that must stand there: one that nobody answered is said to be
missing, so that a table never looks fuller than it is."""
import collections
import re

Point = collections.namedtuple('Point', 'title parts wanted')


def point(title, **parts):
    """parts: name=[(pattern of questions, what is asked, goal)]"""
    wanted = [(part, re.compile(pattern, re.I), what, goal)
              for part, rows in parts.items() for pattern, what, goal in rows]
    return Point(title, list(parts), wanted)


COUNTED = 'every kernel in the trace'
POINTS = [
    point('1. It works', works=[
        ('driver', 'a loop over the driver', COUNTED),
        ('resnet|cnn|pytorch', 'ResNet on JPEGs with loader workers', COUNTED),
        ('transformer, eager|pytorch', 'transformer, eager', COUNTED),
        ('compile|pytorch', 'transformer, torch.compile with CUDA graphs', COUNTED),
        ('distributed|ddp|pytorch', 'DistributedDataParallel, one rank', COUNTED),
        ('cupy', 'CuPy', COUNTED), ('jax', 'JAX', COUNTED), ('triton', 'Triton', COUNTED),
        ('tests/programs', 'programs as people write them', COUNTED)]),
    point('2. Injection', injection=[
        ('constructor|environment|LD_PRELOAD', 'the environment of the constructor', 'reaches the driver'),
        ('missing|path|libcupti|library', 'an injection path or a library that is missing', 'harmless'),
        ('static', 'static cudart', COUNTED),
        ('torch.profiler', 'torch.profiler inside our run', 'both get their data'),
        ('fork', 'fork after cuInit', 'as without us'),
        ('compute-sanitizer', 'compute-sanitizer outside', 'as without us'),
        ('ncu', 'ncu outside', 'as without us'),
        ('nsys', 'nsys outside', 'as without us')]),
    point('3. Overhead', overhead=[
        ('^the governor', 'the governor', 'holds 1 %'),
        ('^CPU of our', 'CPU of our threads', 'published'),
        ('^training', 'training loops, and torch.profiler on them', 'L1: <= 0.4 % median, <= 1 % p95'),
        ('^graphs|CUDA graph', 'CUDA graphs', 'published'),
        ('us kernels$|^empty kernels', 'the curve over launches per second', 'published'),
        ('^by kind|kinds', 'cost per kind of activity', 'published'),
        ('^by API|calls', 'cost per API record', 'published')]),
    point('4. Truth', planted=[
        ('', 'the planted faults', '>= 95 % in the right class'),
        ('G11', 'G11', '>= 95 % in the right class'), ('G12', 'G12', '>= 95 % in the right class'),
        ('G15', 'G15', '>= 95 % in the right class'), ('G18', 'G18', '>= 95 % in the right class')],
          loader=[('', 'loader waits by the script\'s own clock', 'within 2 %')],
          device=[("timer", "busy time against the device's own timer", ''),
                  ('events', 'busy time against CUDA events', ''),
                  ('clock', 'residuals of the clocks', ''),
                  ('record sizes', "sizes of CUPTI's records", 'as probed'),
                  ('latenc', 'p99 turnaround, p95 launch latency', '10 us, 60 us')]),
    point('5. Endurance', endurance=[
        ('records', 'records traced, invalid timestamps', 'all, none'),
        ('memory of', 'memory over time', 'no growth'), ('drift|CPU', 'drift in our CPU time', 'none')]),
    point('6. Names', names=[
        ('UUID', 'name and UUID', 'as NVML and nvidia-smi say'), ('DMI', 'DMI', ''),
        ('price', 'price of this GPU', 'found by name')]),
]
OTHERS = Point('Of the check itself', [], [])
