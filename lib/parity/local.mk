lib_libbitscrub_a_SOURCES += \
	lib/parity/search.c \
	lib/parity/search.h \
	lib/parity/search_blocks.c \
	lib/parity/search_cells.c \
	lib/parity/search_cells.h \
	lib/parity/search_crc.c \
	lib/parity/search_groups.c \
	lib/parity/search_internal.h \
	lib/parity/search_meet.c \
	lib/parity/search_syndrome.c \
	lib/parity/search_window.c \
	lib/parity/search_zones.c \
	lib/parity/segments.c \
	lib/parity/segments.h \
	lib/parity/segments_read.c \
	lib/parity/segments_internal.h \
	lib/parity/undo.h \
	lib/parity/undo_codec.c \
	lib/parity/undo_file.c \
	lib/parity/undo_internal.h \
	lib/parity/undo_log.c
