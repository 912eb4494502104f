EXTRA_DIST += contrib/ci-cross contrib/gen-crc32-fold contrib/gen-crc32-gfni contrib/gen-crc32-tables

# Not built by default: make contrib/bench-kernels contrib/bench-loop
EXTRA_PROGRAMS = contrib/bench-kernels contrib/bench-loop
contrib_bench_kernels_SOURCES = contrib/bench-kernels.c
contrib_bench_kernels_LDADD = lib/libbitscrub.a $(ZLIB_LIBS) -ldl
contrib_bench_loop_SOURCES = contrib/bench-loop.c
CLEANFILES += contrib/bench-kernels contrib/bench-loop
# SPDX-License-Identifier: LGPL-2.1-or-later
EXTRA_DIST += contrib/bitscrub-manifest-dump contrib/fuzz contrib/mutation-test
EXTRA_DIST += contrib/bench contrib/packages contrib/quickstart contrib/run-tests
EXTRA_DIST += .ci/run contrib/completion/scrub.bash

# A completion is loaded by the name of its command, so its file is installed under that name.
bashcompdir = $(datadir)/bash-completion/completions
install-data-local: install-guard
	$(AM_V_at)$(MKDIR_P) "$(DESTDIR)$(bashcompdir)"
	$(AM_V_at)name=`echo scrub | sed '$(transform)'`; \
	sed "s/ -F _scrub scrub\$$/ -F _scrub $$name/" \
		"$(srcdir)/contrib/completion/scrub.bash" >"$(DESTDIR)$(bashcompdir)/$$name"
	$(AM_V_at)name=`echo scrub | sed '$(transform)'`; chmod 644 "$(DESTDIR)$(bashcompdir)/$$name"

uninstall-local:
	name=`echo scrub | sed '$(transform)'`; rm -f "$(DESTDIR)$(bashcompdir)/$$name"
