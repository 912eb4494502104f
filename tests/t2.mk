# SPDX-License-Identifier: LGPL-2.1-or-later
# What a pass survives: kills, signals, full disks, locks, damaged state, awkward trees, many files.
robust_tests = \
	tests/interrupt.bats \
	tests/publish.bats
TESTS += $(robust_tests)
EXTRA_DIST += tests/robust.bash $(robust_tests)
