# SPDX-License-Identifier: LGPL-2.1-or-later
# Partial passes, their pace, and a state that has no room.
night_tests = tests/gentle.bats tests/limits.bats tests/room.bats
TESTS += $(night_tests)
EXTRA_DIST += $(night_tests)
if HAVE_CMOCKA
cmocka_tests += tests/ages.test tests/nights.test tests/pace.test
tests_ages_test_SOURCES = tests/ages.c
tests_nights_test_SOURCES = tests/nights.c
tests_pace_test_SOURCES = tests/pace.c
endif
