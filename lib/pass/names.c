/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words for verdicts, damage and repairs, the same in text and JSON. */
#include <config.h>
#include "bitscrub.h"

const char *scr_verdict_name(enum scr_verdict v)
{
	static const char *const names[SCR_VERDICTS] = {
		[SCR_OK] = "ok",           [SCR_NEW] = "new",
		[SCR_CHANGED] = "changed", [SCR_TOUCHED] = "touched",
		[SCR_MOVED] = "moved",     [SCR_REMOVED] = "removed",
		[SCR_EXCLUDED] = "excluded", [SCR_SKIPPED] = "skipped",
		[SCR_ROT] = "rot",         [SCR_ALTERED] = "altered",
		[SCR_UNREADABLE] = "unreadable", [SCR_MISSING] = "missing",
	};

	return names[v];
}

const char *scr_damage_kind_name(enum scr_damage_kind k)
{
	static const char *const names[SCR_DAMAGE_KINDS] = {
		[SCR_DAMAGE_ROT] = "rot",
		[SCR_DAMAGE_ALTERED] = "altered",
		[SCR_DAMAGE_UNREADABLE] = "unreadable",
		[SCR_DAMAGE_MISSING] = "missing",
		[SCR_DAMAGE_CHANGED] = "changed",
		[SCR_DAMAGE_PARITY] = "parity",
		[SCR_DAMAGE_MANIFEST] = "manifest",
	};

	return names[k];
}

const char *scr_repair_how_name(enum scr_repair_how how)
{
	static const char *const names[SCR_REPAIR_HOWS] = {
		[SCR_REPAIR_NOT] = "not",
		[SCR_REPAIR_PARITY] = "parity",
		[SCR_REPAIR_FROM] = "from",
		[SCR_REPAIR_DUPLICATE] = "duplicate",
		[SCR_REPAIR_CACHE] = "cache",
		[SCR_REPAIR_CHECKSUM] = "checksum",
		[SCR_REPAIR_SIZE] = "size",
		[SCR_REPAIR_REBUILT] = "rebuilt",
		[SCR_REPAIR_SOUND] = "sound",
		[SCR_REPAIR_FINISHED] = "finished",
		[SCR_REPAIR_TAKEN_BACK] = "taken_back",
		[SCR_REPAIR_UNDONE] = "undone",
		[SCR_REPAIR_KEPT] = "kept",
	};

	return names[how];
}

const char *scr_owned_by_name(enum scr_owned_by kind)
{
	static const char *const names[] = {
		[SCR_OWNED_BY_FILE] = "file",
		[SCR_OWNED_BY_NONE] = "free",
		[SCR_OWNED_BY_METADATA] = "metadata",
		[SCR_OWNED_UNKNOWN] = "unknown",
	};

	return names[kind];
}

const char *scr_version(void)
{
	return VERSION;
}
