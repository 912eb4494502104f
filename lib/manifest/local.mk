# SPDX-License-Identifier: LGPL-2.1-or-later
lib_libbitscrub_a_SOURCES += \
	lib/manifest/codec.h \
	lib/manifest/codec_extent.c \
	lib/manifest/codec_file.c \
	lib/manifest/codec_header.c \
	lib/manifest/codec_part.c \
	lib/manifest/codec_trailer.c \
	lib/manifest/cursor.h \
	lib/manifest/format.h \
	lib/manifest/frame.c \
	lib/manifest/group.c \
	lib/manifest/group.h \
	lib/manifest/mreader.c \
	lib/manifest/mreader.h \
	lib/manifest/mwriter.c \
	lib/manifest/record.c \
	lib/manifest/record.h \
	lib/manifest/run.c \
	lib/manifest/store.h \
	lib/manifest/stream.c \
	lib/manifest/stream.h \
	lib/manifest/tally.c \
	lib/manifest/tally.h
