EXTRA_DIST += contrib/ci-cross contrib/gen-crc32-fold contrib/gen-crc32-gfni contrib/gen-crc32-tables

# Not built by default: make contrib/bench-kernels
EXTRA_PROGRAMS = contrib/bench-kernels
contrib_bench_kernels_SOURCES = contrib/bench-kernels.c
contrib_bench_kernels_LDADD = lib/libbitscrub.a $(ZLIB_LIBS) -ldl
CLEANFILES += contrib/bench-kernels
# SPDX-License-Identifier: LGPL-2.1-or-later
EXTRA_DIST += contrib/bitscrub-manifest-dump
EXTRA_DIST += contrib/bench-parity contrib/packages contrib/quickstart contrib/run-tests
EXTRA_DIST += .ci/run
include contrib/completion/local.mk
include contrib/unattended.mk
