lib_libbitscrub_a_SOURCES += \
	lib/cpu/cpu.c \
	lib/cpu/cpu.h \
	lib/cpu/features.def \
	lib/cpu/names.c
