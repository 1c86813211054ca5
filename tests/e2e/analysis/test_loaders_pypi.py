#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=7200
"""What keeps the loaders of PyPI's libraries waiting is told, on the simulated GPU (a model): tests/loaders, whole.
GS_BIG=1 alone, and where scripts/loader-venv could make their environment."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
import gs  # noqa: E402
import torches  # noqa: E402

torches.campaign()
sys.exit(subprocess.run([sys.executable, os.path.join(gs.SOURCE, 'tests', 'loaders')], env=gs.environment(GS_BIG=1)).returncode)
