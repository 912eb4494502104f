lib_libbitscrub_a_SOURCES += \
	lib/kernels/crc32.h \
	lib/kernels/crc32_scalar.c \
	lib/kernels/crc32_tables.c \
	lib/kernels/fused_separate.c \
	lib/kernels/inet.h \
	lib/kernels/inet_fold.c \
	lib/kernels/inet_scalar.c \
	lib/kernels/kernel.h \
	lib/kernels/kernels.def \
	lib/kernels/oracle.c \
	lib/kernels/oracle.h \
	lib/kernels/rows.h \
	lib/kernels/scalar.h \
	lib/kernels/table.c \
	lib/kernels/xor.h \
	lib/kernels/xor_scalar.c
