# SPDX-License-Identifier: Apache-2.0
"""The planted-fault matrix: cases, what they need around them, the truth, the score."""
