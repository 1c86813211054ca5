# SPDX-License-Identifier: Apache-2.0
"""Stands in for triton, as far as Proton goes."""
