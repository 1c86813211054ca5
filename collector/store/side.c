/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of names; digests and tags.
 */
#include "side.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>

#define SHA256_BYTES 32
#define UNRECORDED "unrecorded-"

static bool middle_ok(const char *at, size_t len)
{
	return len && strspn(at, COLL_NAME_CHARACTERS) >= len;
}

/* @prefix, something, @suffix. */
static bool is_between(const char *name, const char *prefix, const char *suffix)
{
	size_t len = strlen(name), begin = strlen(prefix), end = strlen(suffix);

	return len > begin + end && !strncmp(name, prefix, begin) &&
	       !strcmp(name + len - end, suffix) && middle_ok(name + begin, len - begin - end);
}

bool coll_side_name_ok(const char *name)
{
	static const char *const whole[] = { "run.json", "alerts.jsonl" };
	static const char *const prefix[] = { "exit-", "alloc-", "clock-" };
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	if (strlen(name) > 250)
		return false;
	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (is_between(name, prefix[i], ".json"))
			return true;
	return is_between(name, "alerts-node-", ".jsonl") || is_between(name, UNRECORDED, "");
}

bool coll_side_is_allocation(const char *name)
{
	return strlen(name) <= 250 && is_between(name, "alloc-", ".json");
}

void coll_side_directory(char out[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)], const char *run,
			 const char *name)
{
	bool job = coll_job_dir_is(run) &&
		   (coll_side_is_allocation(name) || is_between(name, UNRECORDED, ""));

	snprintf(out, COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX), "%s%s", run,
		 job ? "" : COLL_RUN_SUFFIX);
}

static bool hash_text(gnutls_hash_hd_t hash, const char *text, const char *end)
{
	return !gnutls_hash(hash, text, strlen(text)) && !gnutls_hash(hash, end, strlen(end));
}

bool coll_side_digest(char hex[COLL_SIDE_DIGEST_BYTES], const struct coll_side *s)
{
	uint8_t sum[SHA256_BYTES];
	gnutls_hash_hd_t hash;
	bool good;

	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256))
		return false;
	good = hash_text(hash, s->run, "/") && hash_text(hash, s->name, "\n") &&
	       hash_text(hash, s->node, "\n") && hash_text(hash, s->condition, "\n") &&
	       (!s->len || !gnutls_hash(hash, s->bytes, s->len));
	gnutls_hash_deinit(hash, sum);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	return good;
}

/*
 * A new file has another number than the one whose place it takes; numbers come again, times do
 * not.
 */
void coll_side_tag(char tag[COLL_SIDE_TAG_BYTES], const struct stat *st)
{
	snprintf(tag, COLL_SIDE_TAG_BYTES, "\"%llx-%llx.%lx-%llx\"", (unsigned long long)st->st_ino,
		 (unsigned long long)st->st_mtim.tv_sec, (unsigned long)st->st_mtim.tv_nsec,
		 (unsigned long long)st->st_size);
}

bool coll_side_tag_ok(const char *tag, size_t len)
{
	return len > 2 && len < COLL_SIDE_TAG_BYTES && tag[0] == '"' && tag[len - 1] == '"' &&
	       strspn(tag + 1, "0123456789abcdef-.") == len - 2;
}
