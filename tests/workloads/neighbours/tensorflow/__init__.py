# SPDX-License-Identifier: Apache-2.0
"""Stands in for tensorflow, as far as its profiler goes."""
