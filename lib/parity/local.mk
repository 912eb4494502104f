lib_libbitscrub_a_SOURCES += \
	lib/parity/search.h \
	lib/parity/segments.c \
	lib/parity/segments.h \
	lib/parity/segments_read.c \
	lib/parity/segments_internal.h
