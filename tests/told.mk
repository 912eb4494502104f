# SPDX-License-Identifier: LGPL-2.1-or-later
# Unattended: bitscrub.conf, and who is told.
told_tests = \
	tests/conf.bats \
	tests/told.bats
TESTS += $(told_tests)
EXTRA_DIST += $(told_tests)
