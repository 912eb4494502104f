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
EXTRA_DIST += .ci/run
include contrib/completion/local.mk
include contrib/unattended.mk
