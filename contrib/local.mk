EXTRA_DIST += contrib/ci-cross contrib/gen-crc32-fold contrib/gen-crc32-tables

# Not built by default: make contrib/bench-kernels
EXTRA_PROGRAMS = contrib/bench-kernels
contrib_bench_kernels_SOURCES = contrib/bench-kernels.c
contrib_bench_kernels_LDADD = lib/libbitscrub.a $(ZLIB_LIBS) -ldl
CLEANFILES += contrib/bench-kernels
