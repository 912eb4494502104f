# SPDX-License-Identifier: LGPL-2.1-or-later
# Unattended: bitscrub.conf, and who is told.
told_tests = \
	tests/conf.bats \
	tests/mail.bats \
	tests/pass_history.bats \
	tests/told.bats \
	tests/unattended.bats
TESTS += $(told_tests)
EXTRA_DIST += tests/alone.bash $(told_tests)

if HAVE_CMOCKA
cmocka_tests += tests/history.test
tests_history_test_SOURCES = tests/history.c $(store_common)
endif
