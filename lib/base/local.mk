lib_libbitscrub_a_SOURCES += \
	lib/base/buf.c \
	lib/base/buf.h \
	lib/base/clock.c \
	lib/base/clock.h \
	lib/base/compiler.h \
	lib/base/endian.h \
	lib/base/map.c \
	lib/base/map.h \
	lib/base/pace.c \
	lib/base/pace.h \
	lib/base/path.c \
	lib/base/path.h \
	lib/base/statename.c \
	lib/base/statename.h
