lib_libbitscrub_a_SOURCES += \
	lib/api/api.c
