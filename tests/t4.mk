# SPDX-License-Identifier: LGPL-2.1-or-later
# The medium, racy records, corpora of edits and of rot.
truth_tests = \
	tests/cache.bats \
	tests/edits.bats \
	tests/exclude.bats \
	tests/flaky.bats \
	tests/medium.bats \
	tests/mounts.bats \
	tests/programs.bats \
	tests/racy.bats \
	tests/rot.bats \
	tests/settings.bats
TESTS += $(truth_tests)
EXTRA_DIST += tests/mapped.bash tests/medium.bash $(truth_tests)
