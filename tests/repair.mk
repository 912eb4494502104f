# SPDX-License-Identifier: LGPL-2.1-or-later
# The parity store, the undo log, and repair.
cmocka_tests += tests/parity_segments.test
tests_parity_segments_test_SOURCES = tests/parity_segments.c tests/sys_util.h
