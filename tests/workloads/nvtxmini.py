# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges for the Python workloads, over the tests' own small NVTX client."""
import ctypes
import os

BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build')


class Nvtx:
    """push(text) and pop() on this thread; start(text) -> id, end(id)."""

    def __init__(self):
        lib = ctypes.CDLL(os.path.join(BUILD, 'lib', 'libnvtxmini.so'))
        lib.nvtxmini_start.restype = ctypes.c_uint64
        lib.nvtxmini_end.argtypes = [ctypes.c_uint64]
        self.lib = lib

    def push(self, text):
        return self.lib.nvtxmini_push(text.encode())

    def pop(self):
        return self.lib.nvtxmini_pop()

    def start(self, text):
        return self.lib.nvtxmini_start(text.encode())

    def end(self, handle):
        self.lib.nvtxmini_end(handle)
