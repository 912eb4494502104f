lib_libbitscrub_a_SOURCES += \
	lib/parity/search.h \
	lib/parity/segments.c \
	lib/parity/segments.h \
	lib/parity/segments_read.c \
	lib/parity/segments_internal.h \
	lib/parity/undo.h \
	lib/parity/undo_codec.c \
	lib/parity/undo_file.c \
	lib/parity/undo_internal.h \
	lib/parity/undo_log.c
