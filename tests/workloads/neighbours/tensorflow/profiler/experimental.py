# SPDX-License-Identifier: Apache-2.0
from tensorflow.python.profiler.profiler_v2 import Profile, start, stop
