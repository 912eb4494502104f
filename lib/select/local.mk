lib_libbitscrub_a_SOURCES += \
	lib/select/internal.h \
	lib/select/select.c \
	lib/select/select.h \
	lib/select/selftest.c
