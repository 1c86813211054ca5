/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a store's address. Names that stand in SQL are plain words. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "base/files.h"
#include "clickhouse_priv.h"

#define SCHEME "clickhouse://"
#define PORT "8123"
#define PORT_TLS "8443"
#define ROLLUP 100000 /* rows */

static int refuse(const char *why)
{
	view_error("--store clickhouse: %s; clickhouse://[USER@]HOST[:PORT]/DATABASE, see "
		   "gpustarve-digest(1)",
		   why);
	return -EINVAL;
}

static bool is_word(const char *text)
{
	if (!isalpha((unsigned char)text[0]) && text[0] != '_')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

static bool is_host(const char *text)
{
	return text[0] && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789.-_:[]") == strlen(text);
}

static char *state_file(struct base_arena *mem)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && state[0])
		return base_arena_printf(mem, "%s/gpustarve/outbox.sqlite", state);
	return base_arena_printf(mem, "%s/.local/state/gpustarve/outbox.sqlite",
				 home && home[0] ? home : ".");
}

static int take_password_file(struct click_address *a, struct base_arena *mem, const char *file)
{
	char *text;
	size_t len;
	int err = base_file_read(file, &text, &len);

	if (err) {
		view_error("%s: %s; name a file with the password", file, strerror(-err));
		return err;
	}
	a->password = base_arena_copy(mem, text, strcspn(text, "\r\n"));
	free(text);
	return 0;
}

static int take_option(struct click_address *a, struct base_arena *mem, const char *key,
		       char *value)
{
	if (!strcmp(key, "cluster")) {
		a->cluster = value;
		return is_word(value) ? 0 : refuse("a cluster is a plain word");
	}
	if (!strcmp(key, "rollup")) {
		char *end;

		a->rollup = strtoll(value, &end, 10);
		return *value && !*end && a->rollup >= 0 ? 0 : refuse("rollup is a number of rows");
	}
	if (!strcmp(key, "outbox"))
		a->outbox = value;
	else if (!strcmp(key, "ca"))
		a->ca = value;
	else if (!strcmp(key, "tls"))
		a->tls = !strcmp(value, "1");
	else if (!strcmp(key, "password_file"))
		return take_password_file(a, mem, value);
	else
		return refuse("options after the ? are cluster, outbox, rollup, password_file, tls "
			      "and ca");
	return 0;
}

static int take_options(struct click_address *a, struct base_arena *mem, char *text)
{
	char *next, *save = NULL;
	int err = 0;

	for (next = strtok_r(text, "&", &save); next && !err; next = strtok_r(NULL, "&", &save)) {
		char *value = strchr(next, '=');
		if (!value)
			return refuse("an option after the ? has no value");
		*value++ = '\0';
		err = take_option(a, mem, next, value);
	}
	return err;
}

static int take_hosts(struct click_address *a, struct base_arena *mem, char *text)
{
	char *host, *save = NULL;

	for (host = strtok_r(text, ",", &save); host; host = strtok_r(NULL, ",", &save)) {
		const char *port = strrchr(host, ':'), *bracket = strrchr(host, ']');
		bool has_port = port && (!bracket || port > bracket);

		if (!is_host(host))
			return refuse("a host has a character that no host name has");
		if (a->hosts == CLICK_HOSTS_MAX)
			return refuse("there are too many hosts");
		a->host[a->hosts++] =
			base_arena_printf(mem, "%s://%s%s%s", a->tls ? "https" : "http", host,
					  has_port ? "" : ":",
					  has_port ? ""
					  : a->tls ? PORT_TLS
						   : PORT);
	}
	return a->hosts ? 0 : refuse("no host is named");
}

static void take_user(struct click_address *a, char *text)
{
	char *colon = strchr(text, ':');

	a->user = text;
	if (!colon)
		return;
	*colon = '\0';
	a->password = colon + 1;
}

int click_address_parse(struct click_address *a, struct base_arena *mem, const char *url)
{
	char *text = base_arena_text(mem, url + strlen(SCHEME));
	char *options = strchr(text, '?'), *at, *slash;
	int err = 0;

	*a = (struct click_address){ .rollup = ROLLUP };
	if (options)
		*options++ = '\0';
	slash = strrchr(text, '/');
	if (slash)
		*slash++ = '\0';
	a->database = slash && slash[0] ? slash : base_arena_text(mem, "default");
	if (!is_word(a->database))
		return refuse("a database is a plain word");
	at = strrchr(text, '@');
	if (at) {
		*at++ = '\0';
		take_user(a, text);
	}
	err = options ? take_options(a, mem, options) : 0;
	if (!err)
		err = take_hosts(a, mem, base_arena_text(mem, at ? at : text));
	if (!a->outbox)
		a->outbox = state_file(mem);
	a->target = base_arena_printf(mem, "%s/%s", at ? at : text, a->database);
	return err;
}
