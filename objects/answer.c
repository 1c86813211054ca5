/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk for both: of the elements that count, the text; where they stand is told by the path of
 * names that are open.
 */
#include "answer.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/escape.h"
#include "trouble.h"

#define DEPTH_MAX 8
#define TEXT_MAX OBJECTS_TOKEN_MAX
#define OBJECTS_ETAG_MAX 127u

struct walk {
	XML_Parser parser;
	void (*element)(struct walk *w, const char *path, const char *text);
	char path[256]; /* "/ListBucketResult/Contents/Key" */
	size_t open[DEPTH_MAX]; /* its length outside each open element */
	size_t depth;
	char text[TEXT_MAX]; /* of the innermost element, since it began */
	size_t len;
	int err;
	/* of a list's page */
	struct objects_page *page;
	int (*found)(void *arg, const struct objects_seen *s);
	void *arg;
	char key[OBJECTS_KEY_MAX + 1], etag[OBJECTS_ETAG_MAX + 1];
	struct objects_seen seen; /* of the object that is being read */
	bool has_bytes, whole;
	/* of an error */
	char code[96], message[TEXT_MAX];
};

static void fail(struct walk *w, int err)
{
	if (!w->err)
		w->err = err;
	XML_StopParser(w->parser, XML_FALSE);
}

/* Names come as "namespace|name"; the last part counts. */
static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
	const char *own = strrchr(name, '|');
	struct walk *w = arg;
	size_t at = strlen(w->path);
	int n;

	(void)attributes;
	n = snprintf(w->path + at, sizeof(w->path) - at, "/%s", own ? own + 1 : name);
	if (w->depth == DEPTH_MAX || n < 0 || (size_t)n >= sizeof(w->path) - at) {
		fail(w, -EIO);
		return;
	}
	w->open[w->depth++] = at;
	w->len = 0;
}

static void XMLCALL on_end(void *arg, const char *name)
{
	struct walk *w = arg;

	(void)name;
	w->text[w->len] = '\0';
	w->element(w, w->path, w->text);
	w->path[w->open[--w->depth]] = '\0';
	w->len = 0;
}

static void XMLCALL on_text(void *arg, const char *text, int len)
{
	struct walk *w = arg;

	if ((size_t)len >= TEXT_MAX - w->len) {
		fail(w, -EIO);
		return;
	}
	memcpy(w->text + w->len, text, (size_t)len);
	w->len += (size_t)len;
}

static void XMLCALL on_entity(void *arg, const char *name, int parameter, const char *value,
			      int len, const char *base, const char *system, const char *public,
			      const char *notation)
{
	(void)name, (void)parameter, (void)value, (void)len;
	(void)base, (void)system, (void)public, (void)notation;
	fail(arg, -EIO);
}

/* 0, or what made it end. */
static int walk_all(struct walk *w, const char *text, size_t len)
{
	enum XML_Status got;

	w->parser = XML_ParserCreateNS(NULL, '|');
	if (!w->parser)
		return -ENOMEM;
	XML_SetUserData(w->parser, w);
	XML_SetElementHandler(w->parser, on_start, on_end);
	XML_SetCharacterDataHandler(w->parser, on_text);
	XML_SetEntityDeclHandler(w->parser, on_entity);
	got = len <= INT32_MAX ? XML_Parse(w->parser, text, (int)len, XML_TRUE) : XML_STATUS_ERROR;
	XML_ParserFree(w->parser);
	if (got != XML_STATUS_OK && !w->err)
		w->err = -EIO;
	return w->err;
}

static bool number_of(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* "2026-11-09T14:02:11.000Z"; 0: it is none. */
static int64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

	return rest && (*rest == '.' || *rest == 'Z') ? (int64_t)timegm(&tm) : 0;
}

static void hand_on(struct walk *w)
{
	int err;

	w->seen.key = w->key;
	w->seen.etag = w->etag;
	err = w->found(w->arg, &w->seen);
	w->seen = (struct objects_seen){ .key = NULL };
	w->key[0] = w->etag[0] = '\0';
	w->has_bytes = false;
	if (err)
		fail(w, err);
}

static void object_ends(struct walk *w)
{
	if (w->key[0] && w->has_bytes)
		hand_on(w);
	else
		fail(w, -EIO);
}

static void folder_ends(struct walk *w)
{
	if (w->key[0])
		hand_on(w);
	else
		fail(w, -EIO);
}

static void list_element(struct walk *w, const char *path, const char *text)
{
	static const char root[] = "/ListBucketResult";
	size_t len = strlen(text);

	if (strncmp(path, root, sizeof(root) - 1) != 0)
		return;
	path += sizeof(root) - 1;
	if ((!strcmp(path, "/Contents/Key") || !strcmp(path, "/CommonPrefixes/Prefix")) &&
	    len <= OBJECTS_KEY_MAX)
		memcpy(w->key, text, len + 1);
	else if (!strcmp(path, "/Contents/Size"))
		w->has_bytes = number_of(text, &w->seen.bytes);
	else if (!strcmp(path, "/Contents/ETag") && len <= OBJECTS_ETAG_MAX)
		memcpy(w->etag, text, len + 1);
	else if (!strcmp(path, "/Contents/LastModified"))
		w->seen.changed_s = time_of(text);
	else if (!strcmp(path, "/Contents"))
		object_ends(w);
	else if (!strcmp(path, "/CommonPrefixes"))
		folder_ends(w);
	else if (!strcmp(path, "/IsTruncated"))
		w->page->more = !strcmp(text, "true");
	else if (!strcmp(path, "/NextContinuationToken"))
		memcpy(w->page->token, text, len + 1);
	else if (!*path)
		w->whole = true;
}

int objects_page_read(struct objects_page *page, const char *text, size_t len,
		      int (*found)(void *arg, const struct objects_seen *s), void *arg)
{
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	*page = (struct objects_page){ .more = false };
	if (!w)
		return -ENOMEM;
	w->element = list_element;
	w->page = page;
	w->found = found;
	w->arg = arg;
	err = walk_all(w, text, len);
	if (!err && (!w->whole || (page->more && !page->token[0])))
		err = -EIO;
	free(w);
	return err;
}

static void error_element(struct walk *w, const char *path, const char *text)
{
	if (!strcmp(path, "/Error/Code"))
		snprintf(w->code, sizeof(w->code), "%.*s", (int)sizeof(w->code) - 1, text);
	else if (!strcmp(path, "/Error/Message"))
		memcpy(w->message, text, strlen(text) + 1);
}

void objects_error_read(char *to, size_t room, const char *text, size_t len)
{
	struct walk *w = calloc(1, sizeof(*w));
	char *line;

	*to = '\0';
	if (!w)
		return;
	w->element = error_element;
	walk_all(w, text, len);
	if (w->code[0] &&
	    asprintf(&line, "%s%s%s", w->code, w->message[0] ? ": " : "", w->message) >= 0) {
		base_escape_text(to, room, BASE_AS_TERMINAL, line);
		free(line);
	}
	free(w);
}
