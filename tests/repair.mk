# SPDX-License-Identifier: LGPL-2.1-or-later
# The parity store, the undo log, and repair.
cmocka_tests += tests/parity_segments.test
tests_parity_segments_test_SOURCES = tests/parity_segments.c tests/sys_util.h
cmocka_tests += tests/parity_undo.test
tests_parity_undo_test_SOURCES = tests/parity_undo.c tests/sys_util.h
cmocka_tests += tests/repair_faults.test
tests_repair_faults_test_SOURCES = tests/repair_faults.c tests/sys_util.h
EXTRA_DIST += tests/repair.bash tests/repair.bats tests/repair_kill.bats tests/repair_medium.bats
TESTS += tests/repair.bats tests/repair_kill.bats tests/repair_medium.bats
