# SPDX-License-Identifier: LGPL-2.1-or-later
# Completions, made of the tables. One is loaded by the name of its command, so its file is installed
# under that name, and says it.
completion_sources = contrib/completion/generate contrib/completion/tail.bash \
	contrib/completion/values
EXTRA_DIST += $(completion_sources)
completion_tables = $(completion_sources) src/options.h src/options.def src/commands.def

# For the tests, and to be looked at; what is installed is made under the name of the command.
completions = contrib/completion/scrub.bash contrib/completion/scrub.zsh contrib/completion/scrub.fish
noinst_DATA += $(completions)
CLEANFILES += $(completions)
generate = AWK='$(AWK)' $(SHELL) "$(srcdir)/contrib/completion/generate"

contrib/completion/scrub.bash: $(completion_tables)
	$(AM_V_GEN)$(MKDIR_P) contrib/completion && $(generate) bash scrub "$(srcdir)" >$@.tmp && mv $@.tmp $@
contrib/completion/scrub.zsh: $(completion_tables)
	$(AM_V_GEN)$(MKDIR_P) contrib/completion && $(generate) zsh scrub "$(srcdir)" >$@.tmp && mv $@.tmp $@
contrib/completion/scrub.fish: $(completion_tables)
	$(AM_V_GEN)$(MKDIR_P) contrib/completion && $(generate) fish scrub "$(srcdir)" >$@.tmp && mv $@.tmp $@

bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d
command_name = `echo scrub | sed '$(transform)'`

install-data-local: install-completion
install-completion: install-guard
	$(AM_V_at)$(MKDIR_P) "$(DESTDIR)$(bashcompdir)" "$(DESTDIR)$(zshcompdir)" "$(DESTDIR)$(fishcompdir)"
	$(AM_V_at)name=$(command_name); \
	make_one() { $(generate) $$1 $$name "$(srcdir)" >"$$2" && chmod 644 "$$2"; }; \
	make_one bash "$(DESTDIR)$(bashcompdir)/$$name" && \
	make_one zsh "$(DESTDIR)$(zshcompdir)/_$$name" && \
	make_one fish "$(DESTDIR)$(fishcompdir)/$$name.fish"

uninstall-local: uninstall-completion
uninstall-completion:
	name=$(command_name); rm -f "$(DESTDIR)$(bashcompdir)/$$name" \
		"$(DESTDIR)$(zshcompdir)/_$$name" "$(DESTDIR)$(fishcompdir)/$$name.fish"
.PHONY: install-completion uninstall-completion
