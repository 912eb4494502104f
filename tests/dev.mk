# SPDX-License-Identifier: LGPL-2.1-or-later
# Block devices: identity, use, what lies on them, whose bytes.
cmocka_tests += tests/dev_device.test
tests_dev_device_test_SOURCES = tests/dev_device.c tests/dev_util.h tests/sys_util.h
cmocka_tests += tests/dev_inuse.test
tests_dev_inuse_test_SOURCES = tests/dev_inuse.c tests/dev_util.h tests/sys_util.h
cmocka_tests += tests/dev_regions.test tests/dev_evidence.test
tests_dev_regions_test_SOURCES = tests/dev_regions.c tests/dev_util.h tests/sys_util.h
tests_dev_evidence_test_SOURCES = tests/dev_evidence.c tests/dev_util.h tests/sys_util.h
cmocka_tests += tests/dev_owners.test
tests_dev_owners_test_SOURCES = tests/dev_owners.c tests/dev_util.h tests/sys_util.h
