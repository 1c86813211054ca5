#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coins, one HTTP request per batch, by the training loop itself."""
import requests

from kit import Card, cfg, note


def picture(session, k):
    answer = session.get(f'http://127.0.0.1:{cfg.port}/coins/{k}.jpg', timeout=30)  #: get
    answer.raise_for_status()
    return answer.content  #: get


def main():
    card = Card()
    with requests.Session() as session:
        for k in range(cfg.steps):
            with note('wait', k), note('get', k):
                coin = picture(session, k)
            card.step(coin)


main()
