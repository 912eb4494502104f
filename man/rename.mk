# SPDX-License-Identifier: LGPL-2.1-or-later
# Where the command is installed under another name (--program-prefix=bit), the manual must say that
# name, because what it calls "scrub" may be a program there that erases its operands. What the pages
# write as "scrub VERB" or "scrub --option" is a command to type; .Xr, .Nm and .Dt name the page.
scrub_name = `echo scrub | sed '$(transform)'`

install-data-hook:
	@name=$(scrub_name); \
	test "$$name" = scrub && exit 0; \
	upper=`echo "$$name" | tr 'a-z' 'A-Z'`; \
	page=`echo bitscrub-manifest | sed '$(transform)'`; \
	conf=`echo bitscrub.conf | sed '$(transform)'`; \
	for f in "$(DESTDIR)$(man8dir)/$$name.8" "$(DESTDIR)$(man5dir)/$$page.5" \
			"$(DESTDIR)$(man5dir)/$$conf.5"; do \
		test -f "$$f" || continue; \
		sed -e "s/^\.Dt SCRUB /.Dt $$upper /" -e "s/^\.Nm scrub\$$/.Nm $$name/" \
			-e "s/\.Xr scrub 8/.Xr $$name 8/" \
			-e "s/\<scrub \([a-z-]*[a-z]\)/$$name \1/g" "$$f" >"$$f.new" && \
		chmod 644 "$$f.new" && mv -f "$$f.new" "$$f" || exit 1; \
	done
