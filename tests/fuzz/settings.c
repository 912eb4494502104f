/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes settings: what is taken can be used, stored and read again; hostile ones are refused.
 *
 * Input: one byte of flags, then one setting a line.
 */
#include <config.h>
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "manifest/codec.h"
#include "pass/policy.h"

const struct fuzz_format fuzz_format = {.name = "settings"};

static void forget(void *arg, const char *key, const char *value)
{
	size_t *n = arg;

	FUZZ_ASSERT(*key && value);
	++*n;
}

/* Settings that were taken one by one make a policy and a header, and come back from that. */
static void check_taken(struct scr_settings *s, const struct scr_fs_info *fs)
{
	struct scr_header h =
				  {
					  .version = SCR_FORMAT_VERSION,
					  .kind = SCR_TARGET_DIR,
					  .parities = 1,
					  .settings = *s,
					  .target = (char *)(uintptr_t) "/t",
				  },
			  back;
	struct scr_setting_error err;
	struct scr_buf b = {0};
	struct scr_policy policy;
	size_t n = 0;

	FUZZ_ASSERT(scr_policy_init(&policy, s, fs, &err) == 0);
	scr_policy_free(&policy);
	scr_settings_each(s, fs, forget, &n);
	FUZZ_ASSERT(n >= 11);
	FUZZ_ASSERT(scr_header_valid(&h) && scr_encode_header(&b, &h) == 0);
	FUZZ_ASSERT(scr_decode_header(b.data, b.len, &back) == 0);
	for (n = 0; s->pairs && s->pairs[n]; n++)
		FUZZ_ASSERT(back.settings.pairs[n] && !strcmp(s->pairs[n], back.settings.pairs[n]));
	FUZZ_ASSERT(!back.settings.pairs || !back.settings.pairs[n]);
	FUZZ_ASSERT(back.settings.geometry.columns == s->geometry.columns);
	FUZZ_ASSERT(back.settings.parity == s->parity);
	scr_header_free(&back);
	scr_buf_free(&b);
}

/* As they might stand in a manifest: used unseen, or refused with a reason. */
static void use_raw(char **pairs, const struct scr_fs_info *fs)
{
	struct scr_settings s;
	struct scr_setting_error err = {""};
	struct scr_policy policy;
	size_t n = 0;
	int r;

	scr_settings_default(&s);
	s.pairs = pairs;
	r = scr_policy_init(&policy, &s, fs, &err);
	if (r < 0) {
		FUZZ_ASSERT(r == -EINVAL && err.text[0]);
		return;
	}
	FUZZ_ASSERT(policy.mtime_window_ns >= 0 && policy.stale_after_ns >= 0);
	scr_settings_each(&s, fs, forget, &n);
	scr_policy_free(&policy);
}

static void apply_each(char **pairs, bool fixed, const struct scr_fs_info *fs)
{
	struct scr_setting_error err;
	struct scr_settings s;

	scr_settings_default(&s);
	for (char **p = pairs; *p; p++) {
		int r = scr_settings_apply(&s, *p, fixed, &err);

		FUZZ_ASSERT(r == 0 || r == -EINVAL);
		FUZZ_ASSERT(scr_geometry_valid(&s.geometry));
		FUZZ_ASSERT(r == 0 || (err.text[0] && strlen(err.text) < sizeof(err.text)));
	}
	check_taken(&s, fs);
	scr_settings_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct scr_fs_info fs = {.times_weak = size && p[0] & 2};
	char *pairs[65], *text, *next;
	size_t n = 0;

	if (size < 1 || !(text = malloc(size)))
		return 0;
	memcpy(text, p + 1, size - 1);
	text[size - 1] = '\0';
	for (next = text; next && n < 64;)
		pairs[n++] = strsep(&next, "\n");
	pairs[n] = NULL;
	apply_each(pairs, p[0] & 1, &fs);
	use_raw(pairs, &fs);
	free(text);
	return 0;
}
