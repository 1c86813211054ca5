/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of names; digests and tags.
 */
#include "side.h"

#include <ctype.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include "live/fired.h"
#include "wire/keys.h"

#define SHA256_BYTES 32
#define TAG_BYTES 16 /* of a hash */
#define UNRECORDED "unrecorded-"
#define NAME_MAX_BYTES 250

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
	static const char *const prefix[] = { "exit-", COLL_SIDE_ALLOCATION, "clock-" };
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	if (strlen(name) > NAME_MAX_BYTES)
		return false;
	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (is_between(name, prefix[i], ".json"))
			return true;
	return is_between(name, "alerts-node-", ".jsonl") || is_between(name, UNRECORDED, "");
}

bool coll_side_is_allocation(const char *name)
{
	return strlen(name) <= NAME_MAX_BYTES && is_between(name, COLL_SIDE_ALLOCATION, ".json");
}

bool coll_side_is_of_job(const char *name)
{
	return coll_side_is_allocation(name) ||
	       (strlen(name) <= NAME_MAX_BYTES && is_between(name, UNRECORDED, ""));
}

bool coll_side_is_begun(const char *name)
{
	return strlen(name) <= NAME_MAX_BYTES && is_between(name, WIRE_KEY_ALLOC_BEGUN, ".json");
}

bool coll_side_alloc_has_end(const void *bytes, size_t len)
{
	static const char member[] = "\"end_unix_ns\"";
	const char *at = bytes, *end = at + len;

	if (len > COLL_SIDE_ALLOC_TAIL)
		at = end - COLL_SIDE_ALLOC_TAIL;
	at = len ? memmem(at, (size_t)(end - at), member, sizeof(member) - 1) : NULL;
	if (!at)
		return false;
	at += sizeof(member) - 1;
	while (at < end && *at && strchr(" \t\r\n:", *at))
		at++;
	return at < end && isdigit((unsigned char)*at);
}

void coll_side_directory(char out[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)], const char *run,
			 const char *name)
{
	bool job = coll_job_dir_is(run) && coll_side_is_of_job(name);

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

bool coll_side_tag_of(char tag[COLL_SIDE_TAG_BYTES], const void *bytes, size_t len)
{
	uint8_t sum[SHA256_BYTES];

	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, len ? bytes : "", len, sum))
		return false;
	tag[0] = '"';
	for (size_t i = 0; i < TAG_BYTES; i++)
		snprintf(tag + 1 + 2 * i, 3, "%02x", sum[i]);
	memcpy(tag + 1 + 2 * TAG_BYTES, "\"", 2);
	return true;
}

void coll_side_node(char out[COLL_SIDE_NODE_BYTES], const char *node)
{
	size_t i;

	for (i = 0; node && node[i] && i < COLL_SIDE_NODE_BYTES - 1; i++) {
		char c = node[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '-' || (c == '.' && i);

		out[i] = good ? c : '_';
	}
	out[i] = '\0';
}

void coll_side_name(char *out, size_t room, const char *name, const char *node, bool own)
{
	if (!strcmp(name, "run.json") && !own)
		snprintf(out, room, "exit-node-%s.json", node);
	else if (!strcmp(name, LIVE_FIRED_FILE))
		snprintf(out, room, LIVE_FIRED_OTHERS "-%s.jsonl", *node ? node : "unknown");
	else
		snprintf(out, room, "%s", name);
}

/* The member's value is no null. Whoever types that word into a command is quoted differently. */
static bool has_status(const char *bytes, size_t len)
{
	static const char member[] = "\"exit_status\"";
	const char *end = bytes + len, *at = bytes;

	while ((at = memmem(at, (size_t)(end - at), member, sizeof(member) - 1))) {
		at += sizeof(member) - 1;
		while (at < end && strchr(" \t\r\n", *at))
			at++;
		if (at == end || *at++ != ':')
			continue;
		while (at < end && strchr(" \t\r\n", *at))
			at++;
		return at < end && *at != 'n';
	}
	return false;
}

bool coll_side_tells_end(const char *name, const void *bytes, size_t len)
{
	return is_between(name, "exit-", ".json") ||
	       (len && !strcmp(name, "run.json") && has_status(bytes, len));
}

bool coll_side_tag_ok(const char *tag, size_t len)
{
	return len > 2 && len < COLL_SIDE_TAG_BYTES && tag[0] == '"' && tag[len - 1] == '"' &&
	       strspn(tag + 1, "0123456789abcdef-.") == len - 2;
}
