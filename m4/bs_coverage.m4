# SPDX-License-Identifier: LGPL-2.1-or-later
# BS_COVERAGE: --enable-coverage instruments the build for gcov.
AC_DEFUN([BS_COVERAGE],
[AC_ARG_ENABLE([coverage],
	[AS_HELP_STRING([--enable-coverage],[instrument for gcov @<:@no@:>@])],
	[],[enable_coverage=no])
COV_CFLAGS=
AS_IF([test "$enable_coverage" = yes],[COV_CFLAGS="--coverage -O0"])
AC_SUBST([COV_CFLAGS])
])
