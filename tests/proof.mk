# SPDX-License-Identifier: LGPL-2.1-or-later
# What faults and power cuts found, each by itself.
proof_tests = tests/repair_unread.bats tests/small_faults.bats
TESTS += $(proof_tests)
EXTRA_DIST += $(proof_tests)
