# SPDX-License-Identifier: Apache-2.0
from .profile import activate, deactivate, finalize, start
