lib_libbitscrub_a_SOURCES += \
	lib/kernels/kernel.h
