# SPDX-License-Identifier: Apache-2.0
"""What tests/feeds is made of."""
