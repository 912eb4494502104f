# SPDX-License-Identifier: LGPL-2.1-or-later
# Passes over block devices.
device_tests = tests/device.bats tests/device_fs.bats tests/device_bad.bats
TESTS += $(device_tests)
EXTRA_DIST += tests/devices.bash $(device_tests)
if HAVE_CMOCKA
cmocka_tests += tests/pass_device.test
tests_pass_device_test_SOURCES = tests/pass_device.c
endif
