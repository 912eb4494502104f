# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzz targets. As tests, with any compiler, they run their seeds and some seeded changes of them;
# linked with libFuzzer they are fuzzers, which contrib/fuzz builds and runs.
fuzz_common = tests/fuzz/common.c tests/fuzz/fuzz.h
fuzz_replay = $(fuzz_common) tests/fuzz/replay.c
fuzz_targets = conf ddrescue glob group journal manifest names segment settings undo units
fuzz_tests = \
	tests/fuzz_conf.test \
	tests/fuzz_ddrescue.test \
	tests/fuzz_glob.test \
	tests/fuzz_group.test \
	tests/fuzz_journal.test \
	tests/fuzz_manifest.test \
	tests/fuzz_names.test \
	tests/fuzz_segment.test \
	tests/fuzz_settings.test \
	tests/fuzz_undo.test \
	tests/fuzz_units.test
# Its own objects: where bitscrub.conf is installed is a matter of the command's build.
fuzz_conf_cppflags = $(AM_CPPFLAGS) -DSCR_SYSCONFDIR='"/etc"'
fuzz_conf = tests/fuzz/conf.c src/command.c src/conf.c src/conf_parse.c src/nearest.c src/options.c src/units.c
tests_fuzz_conf_test_SOURCES = $(fuzz_conf) $(fuzz_replay)
tests_fuzz_conf_test_CPPFLAGS = $(fuzz_conf_cppflags)
tests_fuzz_conf_test_LDADD = $(LDADD) -lm
fuzz_ddrescue = tests/fuzz/ddrescue.c tests/fuzz/ddrescue_map.c tests/fuzz/ddrescue_map.h
tests_fuzz_ddrescue_test_SOURCES = $(fuzz_ddrescue) $(fuzz_replay)
tests_fuzz_glob_test_SOURCES = tests/fuzz/glob.c $(fuzz_replay)
tests_fuzz_group_test_SOURCES = tests/fuzz/group.c $(fuzz_replay)
tests_fuzz_journal_test_SOURCES = tests/fuzz/journal.c $(fuzz_replay)
tests_fuzz_manifest_test_SOURCES = tests/fuzz/manifest.c $(fuzz_replay)
tests_fuzz_names_test_SOURCES = tests/fuzz/names.c src/quote.c $(fuzz_replay)
tests_fuzz_segment_test_SOURCES = tests/fuzz/segment.c $(fuzz_replay)
tests_fuzz_settings_test_SOURCES = tests/fuzz/settings.c $(fuzz_replay)
tests_fuzz_undo_test_SOURCES = tests/fuzz/undo.c $(fuzz_replay)
tests_fuzz_units_test_SOURCES = tests/fuzz/units.c src/units.c $(fuzz_replay)
tests_fuzz_units_test_LDADD = $(LDADD) -lm
check_PROGRAMS += $(fuzz_tests)
TESTS += $(fuzz_tests)
EXTRA_DIST += tests/fuzz/seeds tests/fuzz/make-seeds tests/features.bats
EXTRA_DIST += tests/state-damage.bats tests/order.bats tests/mutants
TESTS += tests/features.bats tests/order.bats tests/state-damage.bats

# make fuzzers, in a build with CC=clang --enable-sanitizers=fuzzer-no-link,address,undefined
fuzzers = $(fuzz_targets:%=tests/fuzz/fuzz-%)
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_PROGRAMS += \
	tests/fuzz/fuzz-conf \
	tests/fuzz/fuzz-ddrescue \
	tests/fuzz/fuzz-glob \
	tests/fuzz/fuzz-group \
	tests/fuzz/fuzz-journal \
	tests/fuzz/fuzz-manifest \
	tests/fuzz/fuzz-names \
	tests/fuzz/fuzz-segment \
	tests/fuzz/fuzz-settings \
	tests/fuzz/fuzz-undo \
	tests/fuzz/fuzz-units
tests_fuzz_fuzz_conf_SOURCES = $(fuzz_conf) $(fuzz_common)
tests_fuzz_fuzz_conf_CPPFLAGS = $(fuzz_conf_cppflags)
tests_fuzz_fuzz_conf_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_conf_LDADD = $(LDADD) -lm
tests_fuzz_fuzz_ddrescue_SOURCES = $(fuzz_ddrescue) $(fuzz_common)
tests_fuzz_fuzz_ddrescue_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_glob_SOURCES = tests/fuzz/glob.c $(fuzz_common)
tests_fuzz_fuzz_glob_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_group_SOURCES = tests/fuzz/group.c $(fuzz_common)
tests_fuzz_fuzz_group_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_journal_SOURCES = tests/fuzz/journal.c $(fuzz_common)
tests_fuzz_fuzz_journal_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_manifest_SOURCES = tests/fuzz/manifest.c $(fuzz_common)
tests_fuzz_fuzz_manifest_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_names_SOURCES = tests/fuzz/names.c src/quote.c $(fuzz_common)
tests_fuzz_fuzz_names_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_segment_SOURCES = tests/fuzz/segment.c $(fuzz_common)
tests_fuzz_fuzz_segment_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_settings_SOURCES = tests/fuzz/settings.c $(fuzz_common)
tests_fuzz_fuzz_settings_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_undo_SOURCES = tests/fuzz/undo.c $(fuzz_common)
tests_fuzz_fuzz_undo_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_units_SOURCES = tests/fuzz/units.c src/units.c $(fuzz_common)
tests_fuzz_fuzz_units_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_units_LDADD = $(LDADD) -lm
fuzzers: $(fuzzers)
.PHONY: fuzzers
CLEANFILES += $(fuzzers) tests/fuzz/seedgen

if HAVE_CMOCKA
cmocka_tests += tests/flips.test
tests_flips_test_SOURCES = tests/flips.c $(store_common) $(search_trial)
EXTRA_PROGRAMS += tests/fuzz/seedgen
tests_fuzz_seedgen_SOURCES = tests/fuzz/seedgen.c $(store_common)
endif
