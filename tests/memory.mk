# SPDX-License-Identifier: LGPL-2.1-or-later
# How much memory a pass takes.
TESTS += tests/memory.bats
EXTRA_DIST += tests/memory.bats
