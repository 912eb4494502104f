lib_libbitscrub_a_SOURCES += \
	lib/kernels/crc32.h \
	lib/kernels/crc32_128_arm.h \
	lib/kernels/crc32_128_x86.h \
	lib/kernels/crc32_256.h \
	lib/kernels/crc32_512.h \
	lib/kernels/crc32_fold.h \
	lib/kernels/crc32_fold_constants.h \
	lib/kernels/crc32_gfni.h \
	lib/kernels/crc32_gfni_constants.h \
	lib/kernels/crc32_pair.h \
	lib/kernels/crc32_scalar.c \
	lib/kernels/crc32_tables.c \
	lib/kernels/fused_fold.h \
	lib/kernels/fused_separate.c \
	lib/kernels/fused_vec.h \
	lib/kernels/inet.h \
	lib/kernels/inet_dot.h \
	lib/kernels/inet_fold.c \
	lib/kernels/inet_scalar.c \
	lib/kernels/kernel.h \
	lib/kernels/kernels.def \
	lib/kernels/oracle.c \
	lib/kernels/oracle.h \
	lib/kernels/rows.h \
	lib/kernels/scalar.h \
	lib/kernels/table.c \
	lib/kernels/vec_avx2.h \
	lib/kernels/vec_avx512.h \
	lib/kernels/vec_neon.h \
	lib/kernels/vec_sse2.h \
	lib/kernels/xor.h \
	lib/kernels/xor_scalar.c \
	lib/kernels/xor_vec.h

# The conditions are those of kernels.def.
if ARCH_X86
lib_libbitscrub_a_SOURCES += lib/kernels/inet_sse2.c lib/kernels/xor_sse2.c
endif
if BUILD_AVX2
lib_libbitscrub_a_SOURCES += lib/kernels/inet_avx2.c lib/kernels/xor_avx2.c
endif
if BUILD_AVXVNNI
lib_libbitscrub_a_SOURCES += lib/kernels/inet_avxvnni.c
endif
if BUILD_AVX512
lib_libbitscrub_a_SOURCES += \
	lib/kernels/crc32_vpclmul.c \
	lib/kernels/fused_avx512.c \
	lib/kernels/inet_avx512.c \
	lib/kernels/xor_avx512.c
endif
if BUILD_PCLMUL
lib_libbitscrub_a_SOURCES += lib/kernels/crc32_pclmul.c
endif
if BUILD_VPCLMUL256
lib_libbitscrub_a_SOURCES += \
	lib/kernels/crc32_vpclmul256.c \
	lib/kernels/fused_avx2.c \
	lib/kernels/fused_vpclmul256.c
endif
if BUILD_GFNI
lib_libbitscrub_a_SOURCES += lib/kernels/crc32_gfni.c lib/kernels/fused_gfni.c
endif
if ARCH_ARM64
lib_libbitscrub_a_SOURCES += lib/kernels/inet_neon.c lib/kernels/xor_neon.c
endif
if BUILD_ARM_CRC32
lib_libbitscrub_a_SOURCES += lib/kernels/crc32_arm_crc.c
endif
if BUILD_ARM_PMULL
lib_libbitscrub_a_SOURCES += lib/kernels/crc32_arm_pmull.c
endif
if BUILD_ARM_EOR3
lib_libbitscrub_a_SOURCES += lib/kernels/xor_eor3.c
endif
