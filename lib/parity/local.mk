lib_libbitscrub_a_SOURCES += \
	lib/parity/search.h \
	lib/parity/segments.h
