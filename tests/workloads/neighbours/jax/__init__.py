# SPDX-License-Identifier: Apache-2.0
"""Stands in for jax: where its profiler's functions live and how they reach its users."""
from jax import profiler as profiler
