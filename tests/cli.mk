# SPDX-License-Identifier: LGPL-2.1-or-later
# The command front end, and the rules of the whole tree.
EXTRA_DIST += tests/helper.bash $(cli_tests)
cli_tests = \
	tests/cli.bats \
	tests/completion.bats \
	tests/install.bats \
	tests/layout.t \
	tests/lint.t \
	tests/report.bats \
	tests/terminal.bats
TESTS += $(cli_tests)

if HAVE_CMOCKA
cmocka_tests += tests/render.test tests/text.test
tests_render_test_SOURCES = \
	tests/render.c \
	src/command.c \
	src/console.c \
	src/nearest.c \
	src/quote.c \
	src/report.c \
	src/report_json.c \
	src/report_text.c \
	src/text_close.c \
	src/text_history.c \
	src/text_repair.c \
	src/text_status.c \
	src/units.c
tests_render_test_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_render_test_LDADD = $(LDADD) $(JANSSON_LIBS)
tests_text_test_SOURCES = \
	tests/text.c \
	src/nearest.c \
	src/progress.c \
	src/quote.c \
	src/units.c
tests_text_test_LDADD = $(CMOCKA_LIBS)
endif

# Without those that walk millions of files or damage every byte: hours, under valgrind.
valgrind_tests = \
	tests/codec.test \
	tests/dev_device.test \
	tests/dev_inuse.test \
	tests/dev_owners.test \
	tests/dev_regions.test \
	tests/io_state.test \
	tests/journal.test \
	tests/kernels.test \
	tests/manifest.test \
	tests/manifest_writer.test \
	tests/parity_undo.test \
	tests/pass_faults.test \
	tests/pass_judge.test \
	tests/render.test \
	tests/repair_faults.test \
	tests/select.test \
	tests/text.test

# The unit tests alone; with whole passes, for the thread sanitizer; and under valgrind.
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(cmocka_tests)'
check-threads:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(cmocka_tests) tests/report.bats tests/terminal.bats'
check-valgrind:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(valgrind_tests)' \
		TEST_LOG_COMPILER='valgrind -q --error-exitcode=99 --leak-check=full'
.PHONY: check-unit check-threads check-valgrind
