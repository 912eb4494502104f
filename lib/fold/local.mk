# SPDX-License-Identifier: LGPL-2.1-or-later
lib_libbitscrub_a_SOURCES += \
	lib/fold/bitflip.c \
	lib/fold/bitflip.h \
	lib/fold/fold.c \
	lib/fold/fold.h \
	lib/fold/geometry.c \
	lib/fold/geometry.h
