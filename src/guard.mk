# SPDX-License-Identifier: LGPL-2.1-or-later
# The install guard. Other systems carry another "scrub" that erases files: it is never overwritten,
# and never executed to find out. Ours has the string that help.c puts into it.
install-guard:
	@name=`echo scrub | sed '$(transform)'`; f="$(DESTDIR)$(bindir)/$$name"; \
	if test -e "$$f" || test -h "$$f"; then \
		grep -q "@(#)bitscrub" "$$f" 2>/dev/null || { \
			echo "$$f is another program and is not overwritten." >&2; \
			echo "Install under another name: ./configure --program-prefix=bit && make install" >&2; \
			echo "gives the command bitscrub, its manual and its completion." >&2; \
			exit 1; }; \
	fi
.PHONY: install-guard

install-binPROGRAMS install-man5 install-man8: install-guard
