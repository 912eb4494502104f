# SPDX-License-Identifier: LGPL-2.1-or-later
# Geometry and fold, manifest and journal.
if HAVE_CMOCKA
store_common = tests/store_common.c tests/store_common.h tests/store_sample.c

cmocka_tests += tests/geometry.test tests/codec.test tests/codec_hostile.test tests/journal.test \
	tests/manifest.test tests/manifest_damage.test tests/manifest_writer.test \
	tests/hostile.test
tests_codec_hostile_test_SOURCES = tests/codec_hostile.c $(store_common)
tests_hostile_test_SOURCES = tests/hostile.c $(store_common)
tests_manifest_test_SOURCES = tests/manifest.c $(store_common)
tests_manifest_writer_test_SOURCES = tests/manifest_writer.c $(store_common)
tests_manifest_damage_test_SOURCES = tests/manifest_damage.c $(store_common)
tests_geometry_test_SOURCES = tests/geometry.c $(store_common)
tests_codec_test_SOURCES = tests/codec.c $(store_common)
tests_journal_test_SOURCES = tests/journal.c $(store_common)

# Prints what contrib/bitscrub-manifest-dump prints.
check_PROGRAMS += tests/manifest-tool
tests_manifest_tool_SOURCES = tests/manifest-tool.c $(store_common)
endif

TESTS += tests/manifest-dump.t
EXTRA_DIST += tests/manifest-dump.t
