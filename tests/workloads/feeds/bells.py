#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bells. Each step's loss is posted to an experiment tracker, which answers when it has stored it."""
import http.client
import json

from held import training
from kit import Card, cfg, note


def main():
    card = Card()
    tracker = http.client.HTTPConnection('127.0.0.1', cfg.port)
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            tracker.request('POST', '/log', json.dumps(dict(step=k, loss=1 / (k + 1))))
            tracker.getresponse().read()


main()
