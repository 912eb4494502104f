# SPDX-License-Identifier: LGPL-2.1-or-later
bin_PROGRAMS += src/scrub
src_scrub_SOURCES = src/main.c
src_scrub_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
src_scrub_LDADD = lib/libbitscrub.a $(JANSSON_LIBS) $(ZLIB_LIBS) $(BLKID_LIBS)
