# SPDX-License-Identifier: LGPL-2.1-or-later
# BS_WARNINGS: each warning that the compiler knows goes into WARN_CFLAGS; --enable-werror adds
# -Werror. CFLAGS stay the user's.
AC_DEFUN([BS_WARNINGS],
[AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror],[treat compiler warnings as errors @<:@no@:>@])],
	[],[enable_werror=no])
WARN_CFLAGS=
for bs_flag in -Wall -Wextra -Wundef -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wcast-qual; do
	AC_MSG_CHECKING([whether $CC takes $bs_flag])
	bs_saved=$CFLAGS
	CFLAGS="$CFLAGS -Werror $bs_flag"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([])],
		[AC_MSG_RESULT([yes]); AS_VAR_APPEND([WARN_CFLAGS],[" $bs_flag"])],
		[AC_MSG_RESULT([no])])
	CFLAGS=$bs_saved
done
AS_IF([test "$enable_werror" = yes],[AS_VAR_APPEND([WARN_CFLAGS],[" -Werror"])])
AC_SUBST([WARN_CFLAGS])
])
