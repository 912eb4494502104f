/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names: of state directories, and of what this format defines inside of one. Pure. */
#ifndef SCR_BASE_STATENAME_H
#define SCR_BASE_STATENAME_H

#include <stdbool.h>
#include <stddef.h>

#define SCR_STATE_DIR_NAME ".bitscrub"
#define SCR_STATE_SUFFIX ".bitscrub"
#define SCR_MANIFEST_NAME "manifest"
#define SCR_MANIFEST_PREVIOUS "manifest.1"
#define SCR_JOURNAL_NAME "journal"
#define SCR_HISTORY_NAME "history"
#define SCR_PARITY_DIR_NAME "parity"
#define SCR_UNDO_DIR_NAME "undo"
/* Every temporary file in a state directory ends in this. */
#define SCR_TEMPORARY_SUFFIX ".tmp"

/* A manifest begins with these bytes: the magic of its first group. */
#define SCR_MANIFEST_MAGIC "BSG1"
#define SCR_MANIFEST_MAGIC_LEN 4

enum scr_state_level {
	SCR_STATE_NONE = 0, /* not in a state directory */
	SCR_STATE_TOP,
	SCR_STATE_PARITY,   /* parity/ */
	SCR_STATE_UNDO,     /* undo/ */
};

/* Whether a directory of this name may be state: ".bitscrub" or "*.bitscrub". */
bool scr_state_name_fits(const char *name);
/* Whether @name is that of a temporary file: a killed pass leaves it, the next one removes it. */
bool scr_state_name_temporary(const char *name);
/* Whether the format defines @name at @level of a state directory. */
bool scr_state_name_defined(enum scr_state_level level, const char *name, bool is_dir);
/* The level of subdirectory @name; SCR_STATE_NONE if the format knows none of that name. */
enum scr_state_level scr_state_name_level(enum scr_state_level level, const char *name);
/* Whether the @len bytes @head are the beginning of a manifest. */
bool scr_manifest_head_fits(const void *head, size_t len);

#endif
