# SPDX-License-Identifier: LGPL-2.1-or-later
bin_PROGRAMS += src/scrub
src_scrub_SOURCES = \
	src/bench.h \
	src/bench_json.c \
	src/bench_text.c \
	src/cmd_accept.c \
	src/cmd_bench.c \
	src/cmd_config.c \
	src/cmd_export.c \
	src/cmd_help.c \
	src/cmd_init.c \
	src/cmd_list.c \
	src/cmd_repair.c \
	src/cmd_run.c \
	src/cmd_status.c \
	src/cmd_verify.c \
	src/command.c \
	src/command.h \
	src/commands.def \
	src/conf.c \
	src/conf.h \
	src/conf_parse.c \
	src/console.c \
	src/console.h \
	src/help.c \
	src/job.c \
	src/job.h \
	src/main.c \
	src/nearest.c \
	src/nearest.h \
	src/options.c \
	src/options.def \
	src/options.h \
	src/progress.c \
	src/progress.h \
	src/quote.c \
	src/quote.h \
	src/report.c \
	src/report.h \
	src/report_json.c \
	src/report_text.c \
	src/report_text.h \
	src/text_close.c \
	src/text_history.c \
	src/text_repair.c \
	src/text_status.c \
	src/told.c \
	src/told.h \
	src/told_command.c \
	src/told_metrics.c \
	src/told_syslog.c \
	src/told_temporary.c \
	src/units.c \
	src/units.h \
	src/usage.c \
	src/usage.h \
	src/watch.c \
	src/watch.h
src_scrub_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) -DSCR_SYSCONFDIR='"$(sysconfdir)"'
src_scrub_LDADD = lib/libbitscrub.a $(JANSSON_LIBS) $(ZLIB_LIBS) $(BLKID_LIBS)
include src/guard.mk
