# SPDX-License-Identifier: LGPL-2.1-or-later
# BS_ARCH: ARCH_X86, ARCH_ARM64 as 0 or 1, so that #if and -Wundef both work.
AC_DEFUN([BS_ARCH],
[bs_x86=0 bs_arm64=0
AS_CASE([$host_cpu],
	[x86_64],[bs_x86=1],
	[aarch64],[bs_arm64=1])
AC_DEFINE_UNQUOTED([ARCH_X86],[$bs_x86],[1 on x86-64])
AC_DEFINE_UNQUOTED([ARCH_ARM64],[$bs_arm64],[1 on 64-bit ARM])
AM_CONDITIONAL([ARCH_X86],[test $bs_x86 = 1])
AM_CONDITIONAL([ARCH_ARM64],[test $bs_arm64 = 1])
])
