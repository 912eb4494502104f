# SPDX-License-Identifier: LGPL-2.1-or-later
# BS_SANITIZERS: --enable-sanitizers=LIST passes -fsanitize=LIST to compiler and linker.
AC_DEFUN([BS_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
	[AS_HELP_STRING([--enable-sanitizers=LIST],[build with -fsanitize=LIST, for example address,undefined])],
	[],[enable_sanitizers=no])
SAN_CFLAGS=
AS_IF([test "$enable_sanitizers" != no],
	[SAN_CFLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
	bs_saved=$CFLAGS
	CFLAGS="$CFLAGS $SAN_CFLAGS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([])],[],
		[AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizers])])
	CFLAGS=$bs_saved])
AC_SUBST([SAN_CFLAGS])
])
