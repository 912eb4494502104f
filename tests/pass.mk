# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of lib/pass, and parity in a pass.
parity_tests = tests/parity.bats tests/unseen.bats
TESTS += $(parity_tests)
EXTRA_DIST += $(parity_tests)
if HAVE_CMOCKA
cmocka_tests += tests/pass_faults.test tests/pass_judge.test
tests_pass_faults_test_SOURCES = tests/pass_faults.c
tests_pass_judge_test_SOURCES = tests/pass_judge.c
endif
