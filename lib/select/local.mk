lib_libbitscrub_a_SOURCES += \
	lib/select/calibrate.c \
	lib/select/calibrate.h \
	lib/select/internal.h \
	lib/select/measure.c \
	lib/select/measure.h \
	lib/select/select.c \
	lib/select/select.h \
	lib/select/selftest.c
