/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row per name.
 */
#include "inject.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SOCKET_MAX 107 /* bytes of a socket's path */
#define LABEL_MAX 39 /* bytes of a label's key that a digest keeps */
#define CLUSTER_MAX 63
#define PATH_MAX_BYTES 512

void coll_inject_init(struct coll_inject *in)
{
	*in = (struct coll_inject){ .host = COLL_INJECT_PREFIX, .socket = COLL_INJECT_RUN "/sock" };
}

/* Kubernetes takes no path with a parent in it, and a pod with one would not come in. */
static bool is_path(const char *text)
{
	const char *at = text;

	if (*text != '/' || !text[1] || strlen(text) > PATH_MAX_BYTES)
		return false;
	while ((at = strstr(at, "/..")) && at[3] && at[3] != '/')
		at++;
	return !at;
}

static bool set_host(struct coll_inject *in, const char *value)
{
	in->host = value;
	return is_path(value);
}

static bool set_image(struct coll_inject *in, const char *value)
{
	in->image = value;
	return *value && !strpbrk(value, " \t\r\n");
}

/* Below COLL_INJECT_RUN its name has to fit, too. */
static bool set_socket(struct coll_inject *in, const char *value)
{
	const char *name = strrchr(value, '/');

	in->socket = value;
	return is_path(value) && name > value && name[1] && strlen(value) <= SOCKET_MAX &&
	       sizeof(COLL_INJECT_RUN) - 1 + strlen(name) <= SOCKET_MAX;
}

/* What may stand in a list of labels, and in no other way. */
static bool is_tame(const char *text, size_t max)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "._-/");

	return len && len <= max && !text[len];
}

static bool set_cluster(struct coll_inject *in, const char *value)
{
	in->cluster = value;
	return is_tame(value, CLUSTER_MAX);
}

static bool add_label(struct coll_inject *in, const char *value)
{
	if (in->labels == COLL_INJECT_LABELS_MAX || !is_tame(value, LABEL_MAX))
		return false;
	in->label[in->labels++] = value;
	return true;
}

static const struct {
	const char *name, *why;
	bool (*set)(struct coll_inject *in, const char *value);
} table[] = {
	{ "host", "not an absolute path", set_host },
	{ "image", "not the name of an image", set_image },
	{ "socket", "not a path such as /run/gpustarve/sock", set_socket },
	{ "cluster", "not a name of letters, digits and ._-/", set_cluster },
	{ "label", "not a key of letters, digits and ._-/, or one too many", add_label },
};

int coll_inject_set_pair(struct coll_inject *in, const char *pair, const char **why)
{
	const char *equals = strchr(pair, '=');
	size_t len = equals ? (size_t)(equals - pair) : 0;

	*why = "not NAME=VALUE; names are host, image, socket, cluster, label";
	for (size_t i = 0; len && i < sizeof(table) / sizeof(table[0]); i++) {
		if (strlen(table[i].name) != len || memcmp(table[i].name, pair, len) != 0)
			continue;
		*why = table[i].why;
		return table[i].set(in, equals + 1) ? 0 : -EINVAL;
	}
	return -EINVAL;
}
