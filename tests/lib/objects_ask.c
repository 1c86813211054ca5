/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of objects.h for tests: objects_ask URL, then on standard input a call a line:
 *	get KEY AT LEN | size KEY | put KEY FILE | new KEY FILE | remove KEY | list PREFIX |
 *	browse PREFIX MOST
 * with "%20" for a blank in KEY and "-" for no prefix. A line of JSON each: the result, what came as
 * hex, why it did not work.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/escape.h"
#include "base/files.h"
#include "objects/objects.h"

static void unblank(char *text)
{
	char *at;

	while ((at = strstr(text, "%20"))) {
		*at = ' ';
		memmove(at + 1, at + 3, strlen(at + 3) + 1);
	}
}

static int list_one(void *arg, const char *key, uint64_t bytes)
{
	size_t *n = arg;

	printf("%s[\"", (*n)++ ? ", " : "");
	base_put(stdout, BASE_AS_JSON, key);
	printf("\", %llu]", (unsigned long long)bytes);
	return 0;
}

static int seen_one(void *arg, const struct objects_seen *s)
{
	size_t *n = arg;

	printf("%s[\"", (*n)++ ? ", " : "");
	base_put(stdout, BASE_AS_JSON, s->key);
	printf("\", %llu, %lld, \"", (unsigned long long)s->bytes, (long long)s->changed_s);
	base_put(stdout, BASE_AS_JSON, s->etag);
	printf("\"]");
	return 0;
}

static long get(struct objects *o, const char *key, char *words, struct objects_trouble *t)
{
	uint64_t at = strtoull(words, &words, 10);
	size_t len = strtoull(words, NULL, 10), i;
	uint8_t *to = malloc(len + 1);
	ssize_t got = objects_get(o, key, at, to, len, t);

	printf("\"hex\": \"");
	for (i = 0; got > 0 && i < (size_t)got; i++)
		printf("%02x", to[i]);
	printf("\", ");
	free(to);
	return got;
}

static long put(struct objects *o, const char *key, const char *file, bool fresh,
		struct objects_trouble *t)
{
	char *bytes;
	size_t len;
	int err = base_file_read(file, &bytes, &len);

	if (err)
		return err;
	err = objects_put(o, key, bytes, len, fresh, t);
	free(bytes);
	return err;
}

static long call(struct objects *o, const char *what, char *key, char *rest,
		 struct objects_trouble *t)
{
	uint64_t bytes;
	int64_t now_s;
	size_t n = 0;
	long got;

	if (!strcmp(what, "get"))
		return get(o, key, rest, t);
	if (!strcmp(what, "put") || !strcmp(what, "new"))
		return put(o, key, rest, *what == 'n', t);
	if (!strcmp(what, "remove"))
		return objects_remove(o, key, t);
	if (!strcmp(what, "size")) {
		got = objects_size(o, key, &bytes, t);
		printf("\"bytes\": %llu, ", (unsigned long long)bytes);
		return got;
	}
	printf("\"found\": [");
	if (!strcmp(what, "browse")) {
		got = objects_browse(o, strcmp(key, "-") != 0 ? key : "", true,
				     (unsigned int)atoi(rest), seen_one, &n, &now_s, t);
		printf("], \"now\": %lld, ", (long long)now_s);
		return got;
	}
	got = objects_list(o, strcmp(key, "-") != 0 ? key : "", list_one, &n, t);
	printf("], ");
	return got;
}

int main(int argc, char **argv)
{
	struct objects_trouble t;
	struct objects *o = NULL;
	char line[8192], what[16], key[4096], rest[4096];
	long got;
	int err;

	if (argc != 2)
		return 2;
	err = objects_open(&o, argv[1], &t);
	if (err) {
		printf("{\"result\": %d, \"why\": \"", err);
		base_put(stdout, BASE_AS_JSON, t.why);
		printf("\"}\n");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		*rest = '\0';
		if (sscanf(line, "%15s %4095s %4095[^\n]", what, key, rest) < 2)
			continue;
		unblank(key);
		printf("{");
		got = call(o, what, key, rest, &t);
		printf("\"result\": %ld, \"why\": \"", got);
		base_put(stdout, BASE_AS_JSON, t.why);
		printf("\"}\n");
		fflush(stdout);
	}
	objects_close(o);
	return 0;
}
