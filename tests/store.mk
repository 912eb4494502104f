# SPDX-License-Identifier: LGPL-2.1-or-later
# Geometry and fold, manifest and journal.
if HAVE_CMOCKA
store_common = tests/store_common.c tests/store_common.h

cmocka_tests += tests/journal.test
tests_journal_test_SOURCES = tests/journal.c $(store_common)
endif
