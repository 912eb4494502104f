# SPDX-License-Identifier: LGPL-2.1-or-later
lib_libbitscrub_a_SOURCES += \
	lib/manifest/codec.h \
	lib/manifest/codec_extent.c \
	lib/manifest/codec_file.c \
	lib/manifest/codec_header.c \
	lib/manifest/codec_part.c \
	lib/manifest/codec_trailer.c \
	lib/manifest/codec_update.c \
	lib/manifest/cursor.h \
	lib/manifest/format.h \
	lib/manifest/frame.c \
	lib/manifest/group.c \
	lib/manifest/group.h \
	lib/manifest/journal.c \
	lib/manifest/journal.h \
	lib/manifest/journal_scan.c \
	lib/manifest/medium.h \
	lib/manifest/mreader.c \
	lib/manifest/mreader.h \
	lib/manifest/mwriter.c \
	lib/manifest/record.c \
	lib/manifest/record.h \
	lib/manifest/run.c \
	lib/manifest/sort.c \
	lib/manifest/sort.h \
	lib/manifest/sort_run.c \
	lib/manifest/sort_run.h \
	lib/manifest/store.h \
	lib/manifest/stream.c \
	lib/manifest/stream.h \
	lib/manifest/sweep.c \
	lib/manifest/tally.c \
	lib/manifest/tally.h \
	lib/manifest/update.h \
	lib/manifest/view.c \
	lib/manifest/window.c \
	lib/manifest/window.h
