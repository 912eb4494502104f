# SPDX-License-Identifier: LGPL-2.1-or-later
# BS_KERNELS: what the compiler, assembler and linker can build of the vector kernels. Each probe
# links a function with exactly the target attribute that the sources use (lib/kernels/vec_*.h).

# BS_KERNEL_PROBE(MACRO, WHAT, TARGET, HEADER, STATEMENTS): MACRO becomes 1 or 0.
AC_DEFUN([BS_KERNEL_PROBE],
[AC_CACHE_CHECK([for $2 by target attribute],[bs_cv_$1],
	[AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <$4>
__attribute__((target($3))) static int probe(void *p)
{
	$5
}
int main(int argc, char **argv) { return argc > 9 ? probe(argv) : 0; }
]])],[bs_cv_$1=1],[bs_cv_$1=0])])
AC_DEFINE_UNQUOTED([$1],[$bs_cv_$1],[1 if $2 can be built])
AM_CONDITIONAL([$1],[test $bs_cv_$1 = 1])
])

AC_DEFUN([BS_KERNELS],
[BS_KERNEL_PROBE([BUILD_AVX2],[AVX2],["avx2"],[immintrin.h],
[__m256i v = _mm256_loadu_si256(p);
	return _mm256_movemask_epi8(_mm256_madd_epi16(v, v));])
BS_KERNEL_PROBE([BUILD_AVXVNNI],[AVX-VNNI],["avx2,avxvnni"],[immintrin.h],
[__m256i v = _mm256_loadu_si256(p);
	return _mm256_movemask_epi8(_mm256_dpwssd_avx_epi32(v, v, v));])
BS_KERNEL_PROBE([BUILD_AVX512],[AVX-512 with VNNI and VPCLMULQDQ],
["avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,vpclmulqdq,pclmul,sse4.1"],[immintrin.h],
[__m512i v = _mm512_maskz_loadu_epi8(5, p);
	v = _mm512_dpwssd_epi32(v, v, _mm512_clmulepi64_epi128(v, v, 0));
	return _mm_extract_epi32(_mm512_extracti32x4_epi32(v, 1), 1);])
BS_KERNEL_PROBE([BUILD_GFNI],[AVX-512 with GFNI],
["avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1,gfni"],[immintrin.h],
[__m512i v = _mm512_loadu_si512(p);
	return _mm_cvtsi128_si32(_mm512_castsi512_si128(_mm512_gf2p8affine_epi64_epi8(v, v, 0)));])
BS_KERNEL_PROBE([BUILD_PCLMUL],[PCLMULQDQ],["pclmul,sse4.1"],[immintrin.h],
[__m128i v = _mm_loadu_si128(p);
	return _mm_extract_epi32(_mm_clmulepi64_si128(v, v, 0x11), 1);])
BS_KERNEL_PROBE([BUILD_VPCLMUL256],[VPCLMULQDQ of 256 bits],["avx2,vpclmulqdq,pclmul"],
[immintrin.h],
[__m256i v = _mm256_loadu_si256(p);
	return _mm256_movemask_epi8(_mm256_clmulepi64_epi128(v, v, 0x11));])
BS_KERNEL_PROBE([BUILD_ARM_CRC32],[the CRC-32 instructions],["+crc"],[arm_acle.h],
[return (int)__crc32d(1, (unsigned long)p);])
BS_KERNEL_PROBE([BUILD_ARM_PMULL],[PMULL],["+crypto"],[arm_neon.h],
[poly64_t a = *(poly64_t *)p;
	return (int)vgetq_lane_u64(vreinterpretq_u64_p128(vmull_p64(a, a)), 1);])
BS_KERNEL_PROBE([BUILD_ARM_EOR3],[EOR3],["arch=armv8.2-a+sha3"],[arm_neon.h],
[uint8x16_t v = vld1q_u8(p);
	return vgetq_lane_u8(veor3q_u8(v, v, v), 1);])
])
