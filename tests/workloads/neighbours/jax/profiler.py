# SPDX-License-Identifier: Apache-2.0
from jax._src.profiler import start_trace as start_trace
from jax._src.profiler import stop_trace as stop_trace
from jax._src.profiler import trace as trace
