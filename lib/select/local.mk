lib_libbitscrub_a_SOURCES += \
	lib/select/select.h
