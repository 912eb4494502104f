/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names: of state directories, and of what this format defines inside of one. */
#include <config.h>
#include "base/statename.h"

#include <string.h>

#include "base/compiler.h"

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n >= s && strcmp(name + n - s, suffix) == 0;
}

bool scr_state_name_fits(const char *name)
{
	return ends_in(name, SCR_STATE_SUFFIX);
}

bool scr_state_name_temporary(const char *name)
{
	return ends_in(name, SCR_TEMPORARY_SUFFIX);
}

/* Parity segments and undo entries: NNNNNNNN. */
static bool numbered(const char *name)
{
	return strlen(name) == 8 && strspn(name, "0123456789") == 8;
}

enum scr_state_level scr_state_name_level(enum scr_state_level level, const char *name)
{
	if (level != SCR_STATE_TOP)
		return SCR_STATE_NONE;
	if (strcmp(name, SCR_PARITY_DIR_NAME) == 0)
		return SCR_STATE_PARITY;
	if (strcmp(name, SCR_UNDO_DIR_NAME) == 0)
		return SCR_STATE_UNDO;
	return SCR_STATE_NONE;
}

bool scr_state_name_defined(enum scr_state_level level, const char *name, bool is_dir)
{
	static const char *const files[] = {SCR_MANIFEST_NAME, SCR_MANIFEST_PREVIOUS,
					    SCR_JOURNAL_NAME, SCR_HISTORY_NAME};

	if (level == SCR_STATE_NONE)
		return false;
	if (is_dir)
		return scr_state_name_level(level, name) != SCR_STATE_NONE;
	if (scr_state_name_temporary(name))
		return true;
	if (level != SCR_STATE_TOP)
		return numbered(name);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(files); i++)
		if (strcmp(name, files[i]) == 0)
			return true;
	return false;
}

bool scr_manifest_head_fits(const void *head, size_t len)
{
	return len >= SCR_MANIFEST_MAGIC_LEN &&
	       memcmp(head, SCR_MANIFEST_MAGIC, SCR_MANIFEST_MAGIC_LEN) == 0;
}
