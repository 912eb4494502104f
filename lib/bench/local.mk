lib_libbitscrub_a_SOURCES += \
	lib/bench/bench.c \
	lib/bench/classic.c \
	lib/bench/common.c \
	lib/bench/internal.h \
	lib/bench/load.c \
	lib/bench/simulate.c \
	lib/bitscrub-bench.h
