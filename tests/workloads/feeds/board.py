#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Defines a model for a Python prompt (python3 -i)."""
from held import BATCHES
from kit import Card

card = Card()


def step():
    card.step(BATCHES[card.steps % 8])
    return card.steps
