/* SPDX-License-Identifier: Apache-2.0 */
#include "data_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsondoc.h"
#include "base/files.h"
#include "data.h"

#define CLOSE "</script>"
#define NAMED "id=\"" VIEW_DATA_ID "\"" /* scripts name it too, in another way */
#define CHECKSUM ",\"checksum\":\""
#define SEAL_BYTES (sizeof(CHECKSUM) - 1 + 16 + 2) /* sixteen digits, quote, brace */

static const char *find(const char *text, size_t len, const char *what)
{
	return memmem(text, len, what, strlen(what));
}

/* The document and nothing like it after it. */
static enum view_block_state cut_out(struct view_data_block *b, size_t len)
{
	const char *open = find(b->page, len, VIEW_DATA_OPEN), *end;
	size_t left;

	if (!open)
		return find(b->page, len, NAMED) ? VIEW_BLOCK_DAMAGED : VIEW_BLOCK_NONE;
	b->text = open + strlen(VIEW_DATA_OPEN);
	left = len - (size_t)(b->text - b->page);
	end = find(b->text, left, CLOSE);
	if (!end)
		return VIEW_BLOCK_DAMAGED;
	b->len = (size_t)(end - b->text);
	left -= b->len;
	return find(end, left, NAMED) ? VIEW_BLOCK_DAMAGED : VIEW_BLOCK_READY;
}

static bool sealed(const struct view_data_block *b)
{
	size_t body = b->len < SEAL_BYTES ? 0 : b->len - SEAL_BYTES;
	char seal[SEAL_BYTES + 1];

	if (!body)
		return false;
	snprintf(seal, sizeof(seal), CHECKSUM "%016" PRIx64 "\"}",
		 view_data_checksum(b->text, body));
	return !memcmp(b->text + body, seal, SEAL_BYTES);
}

static void keep_version(struct view_data_block *b, const char *version)
{
	size_t n = 0;

	for (; *version && n + 1 < sizeof(b->version); version++)
		b->version[n++] = *version > ' ' && *version < 0x7f ? *version : '?';
	b->version[n] = '\0';
}

static enum view_block_state look(struct view_data_block *b)
{
	enum view_block_state state = VIEW_BLOCK_READY;
	struct base_arena mem = { 0 };
	struct base_json_error error;
	const struct base_json *root = base_json_parse(&mem, b->text, b->len, &error);
	const char *window = base_json_get_text(root, "window", "");

	keep_version(b, base_json_get_text(root, "version", ""));
	b->window = !strcmp(window, "device") ? ANA_WINDOW_DEVICE : ANA_WINDOW_JOB;
	if (!root)
		state = VIEW_BLOCK_DAMAGED;
	else if (strcmp(base_json_get_text(root, "schema", ""), VIEW_DATA_SCHEMA) != 0 ||
		 strcmp(b->version, GPUSTARVE_VERSION) != 0)
		state = VIEW_BLOCK_FOREIGN;
	else if (!base_json_get_bool(root, "series", false))
		state = VIEW_BLOCK_BARE;
	base_arena_fini(&mem);
	return state;
}

int view_block_read(struct view_data_block *b, const char *path)
{
	size_t len;
	int err;

	*b = (struct view_data_block){ .state = VIEW_BLOCK_NO_PAGE };
	err = base_file_read(path, &b->page, &len);
	if (err)
		return err == -ENOENT ? 0 : err;
	b->state = cut_out(b, len);
	if (b->state == VIEW_BLOCK_READY)
		b->state = sealed(b) ? look(b) : VIEW_BLOCK_DAMAGED;
	return 0;
}

void view_block_fini(struct view_data_block *b)
{
	free(b->page);
	*b = (struct view_data_block){ .state = VIEW_BLOCK_NO_PAGE };
}
