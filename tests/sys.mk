# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of lib/io, lib/dev and lib/walk.
cmocka_tests += tests/walk_filter.test
tests_walk_filter_test_SOURCES = tests/walk_filter.c tests/sys_util.h
cmocka_tests += tests/walk_resolve.test
tests_walk_resolve_test_SOURCES = tests/walk_resolve.c tests/walk_tree.h tests/sys_util.h
cmocka_tests += tests/walk_walk.test
tests_walk_walk_test_SOURCES = tests/walk_walk.c tests/walk_tree.h tests/sys_util.h
cmocka_tests += tests/io_state.test tests/io_state_safety.test
tests_io_state_test_SOURCES = tests/io_state.c tests/sys_util.h
tests_io_state_safety_test_SOURCES = tests/io_state_safety.c tests/sys_util.h
cmocka_tests += tests/io_reader.test tests/io_medium.test tests/dev_identity.test
tests_io_reader_test_SOURCES = tests/io_reader.c tests/io_disk.h tests/sys_util.h
tests_io_medium_test_SOURCES = tests/io_medium.c tests/io_disk.h tests/sys_util.h
tests_dev_identity_test_SOURCES = tests/dev_identity.c tests/sys_util.h
