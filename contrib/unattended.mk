# SPDX-License-Identifier: LGPL-2.1-or-later
# What runs a pass at night: cron and systemd, with the path and the name of the installed command.
# Examples go to docdir; units to where --with-systemdsystemunitdir says, else to docdir too.
templates = \
	contrib/cron/bitscrub.in \
	contrib/cron/bitscrub-weekly.in \
	contrib/systemd/scrub@.service.in \
	contrib/systemd/scrub@.timer.in \
	contrib/systemd/scrub-failed@.service.in
EXTRA_DIST += contrib/bitscrub.conf $(templates)
command_path = $(bindir)/$(command_name)
fill_in = sed -e "s|@scrub@|$(command_path)|g" -e "s|@name@|$(command_name)|g" -e "s|@confdir@|$(sysconfdir)|g"
exampledir = $(docdir)/examples

install-data-local: install-unattended
install-unattended: install-guard
	$(AM_V_at)$(MKDIR_P) "$(DESTDIR)$(exampledir)"
	$(AM_V_at)for f in cron/bitscrub cron/bitscrub-weekly; do \
		$(fill_in) "$(srcdir)/contrib/$$f.in" >"$(DESTDIR)$(exampledir)/$${f##*/}" || exit 1; \
	done
	$(AM_V_at)cp "$(srcdir)/contrib/bitscrub.conf" "$(DESTDIR)$(exampledir)/bitscrub.conf"
	$(AM_V_at)chmod 644 "$(DESTDIR)$(exampledir)/bitscrub" "$(DESTDIR)$(exampledir)/bitscrub.conf"
	$(AM_V_at)chmod 755 "$(DESTDIR)$(exampledir)/bitscrub-weekly"
	$(AM_V_at)units="$(systemdsystemunitdir)"; test -n "$$units" || units="$(exampledir)"; \
	$(MKDIR_P) "$(DESTDIR)$$units" && \
	for f in @.service @.timer -failed@.service; do \
		to="$(DESTDIR)$$units/$(command_name)$$f"; \
		$(fill_in) "$(srcdir)/contrib/systemd/scrub$$f.in" >"$$to" && chmod 644 "$$to" || exit 1; \
	done

uninstall-local: uninstall-unattended
uninstall-unattended:
	rm -f "$(DESTDIR)$(exampledir)/bitscrub" "$(DESTDIR)$(exampledir)/bitscrub-weekly" \
		"$(DESTDIR)$(exampledir)/bitscrub.conf"
	units="$(systemdsystemunitdir)"; test -n "$$units" || units="$(exampledir)"; \
	for f in @.service @.timer -failed@.service; do rm -f "$(DESTDIR)$$units/$(command_name)$$f"; done
.PHONY: install-unattended uninstall-unattended
