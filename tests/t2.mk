# SPDX-License-Identifier: LGPL-2.1-or-later
# What a pass survives: kills, signals, full disks, locks, damaged state, awkward trees, many files.
robust_tests = \
	tests/awkward.bats \
	tests/fulldisk.bats \
	tests/interrupt.bats \
	tests/lock.bats \
	tests/manifestguard.bats \
	tests/moves.bats \
	tests/publish.bats \
	tests/scale.bats \
	tests/state.bats \
	tests/stateplace.bats \
	tests/targets.bats \
	tests/unsteady.bats
TESTS += $(robust_tests)
EXTRA_DIST += tests/robust.bash $(robust_tests)
