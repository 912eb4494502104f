# SPDX-License-Identifier: LGPL-2.1-or-later
# The ways to read: mapped, directly, through the cache; many at a time.
speed_tests = tests/paths.bats
TESTS += $(speed_tests)
EXTRA_DIST += $(speed_tests)
if HAVE_CMOCKA
cmocka_tests += tests/io_map.test tests/walk_opener.test
tests_io_map_test_SOURCES = tests/io_map.c tests/sys_util.h
tests_walk_opener_test_SOURCES = tests/walk_opener.c tests/sys_util.h
endif
