/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "trouble.h"

#define SCHEME "s3://"
#define BUCKET_MIN 3u
#define BUCKET_MAX 63u

bool objects_address_is(const char *text)
{
	return !strncmp(text, SCHEME, sizeof(SCHEME) - 1);
}

static bool is_ascii_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char *objects_encoded(struct base_arena *mem, const char *text, bool path)
{
	static const char digit[] = "0123456789ABCDEF";
	char *out = base_arena_alloc(mem, strlen(text) * 3 + 1), *to = out;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (is_ascii_alnum(*text) || strchr("-._~", c) || (path && c == '/')) {
			*to++ = (char)c;
		} else {
			*to++ = '%';
			*to++ = digit[c >> 4];
			*to++ = digit[c & 15];
		}
	}
	return out;
}

/* Names as S3 has them today, and the capitals and underscores of old ones. */
static bool is_bucket(const char *name, size_t len)
{
	size_t i;

	if (len < BUCKET_MIN || len > BUCKET_MAX || !is_ascii_alnum(name[0]))
		return false;
	for (i = 0; i < len; i++)
		if (!is_ascii_alnum(name[i]) && !strchr("-._", name[i]))
			return false;
	return true;
}

/* "https://HOST[:PORT]" without a path; a slash behind it does no harm. */
static char *endpoint_of(struct base_arena *mem, const char *url)
{
	size_t scheme = !strncmp(url, "https://", 8) ? 8 : !strncmp(url, "http://", 7) ? 7 : 0;
	size_t host = strcspn(url + scheme, "/?#@ ");

	if (!scheme || !host || (url[scheme + host] && strcmp(url + scheme + host, "/") != 0))
		return NULL;
	return base_arena_copy(mem, url, scheme + host);
}

static const char *base_of(struct base_arena *mem, const char *bucket,
			   const struct objects_account *a)
{
	const char *endpoint;

	if (!a->endpoint && !strchr(bucket, '.'))
		return base_arena_printf(mem, "https://%s.s3.%s.amazonaws.com", bucket, a->region);
	endpoint = a->endpoint ? endpoint_of(mem, a->endpoint)
			       : base_arena_printf(mem, "https://s3.%s.amazonaws.com", a->region);
	return endpoint ? base_arena_printf(mem, "%s/%s", endpoint, bucket) : NULL;
}

/* What stands behind the bucket, with one slash behind it and none before it. */
static const char *prefix_of(struct base_arena *mem, const char *text)
{
	size_t len;

	while (*text == '/')
		text++;
	len = strlen(text);
	while (len && text[len - 1] == '/')
		len--;
	return len ? base_arena_printf(mem, "%.*s/", (int)len, text) : "";
}

int objects_address_of(struct objects_address *to, struct base_arena *mem, const char *url,
		       const struct objects_account *a)
{
	const char *name = url + sizeof(SCHEME) - 1;
	size_t len;

	if (!objects_address_is(url) || strlen(url) > OBJECTS_KEY_MAX)
		return -EINVAL;
	len = strcspn(name, "/");
	if (!is_bucket(name, len))
		return -EINVAL;
	to->bucket = base_arena_copy(mem, name, len);
	to->prefix = prefix_of(mem, name + len);
	to->base = base_of(mem, to->bucket, a);
	return to->base ? 0 : -EINVAL;
}

char *objects_url_of_key(struct base_arena *mem, const struct objects_address *a, const char *key)
{
	if (!*key || strlen(a->prefix) + strlen(key) > OBJECTS_KEY_MAX)
		return NULL;
	return base_arena_printf(mem, "%s/%s%s", a->base, objects_encoded(mem, a->prefix, true),
				 objects_encoded(mem, key, true));
}
