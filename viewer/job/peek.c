/* SPDX-License-Identifier: Apache-2.0 */
#include "peek.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "wire/reader.h"
#include "wire/session.pb-c.h"

#define FRAMES 4 /* looked at; a stream begins with its Hello */
#define RECORD_BYTES_MAX ((size_t)1 << 20)

bool view_peek_record(const char *run, struct base_arena *mem, struct view_job_identity *id)
{
	struct base_json_error bad = { NULL, 0 };
	const struct base_json *root;
	char *text;
	size_t len;

	if (base_file_read(base_arena_printf(mem, "%s/run.json", run), &text, &len))
		return false;
	root = len <= RECORD_BYTES_MAX ? base_json_parse(mem, text, len, &bad) : NULL;
	free(text);
	view_job_from_json(id, base_json_get(root, "slurm"));
	return true;
}

const char *view_hello_variable(void *hello, const char *name)
{
	const Wire__Hello *h = hello;

	for (size_t i = 0; i < h->n_environment; i++)
		if (!strcmp(h->environment[i]->key, name))
			return h->environment[i]->value;
	return NULL;
}

static bool peek_file(const char *path, struct base_arena *mem, struct view_job_identity *id)
{
	struct wire_scratch *scratch = wire_scratch_new();
	struct wire_file *file = NULL;
	struct wire_entry e;
	bool found = false;

	if (!scratch || wire_file_open(&file, path))
		goto out;
	for (int i = 0; i < FRAMES && !found && wire_file_next(file, &e) > 0; i++) {
		ProtobufCMessage *m;

		if (e.frame.type != WIRE_FRAME_HELLO)
			continue;
		m = wire_file_message(file, scratch, &e, &wire__hello__descriptor);
		if (!m)
			continue;
		view_job_from(id, view_hello_variable, m);
		view_job_keep(id, mem);
		protobuf_c_message_free_unpacked(m, NULL);
		found = true;
	}
	wire_file_close(file);
out:
	wire_scratch_free(scratch);
	return found;
}

void view_peek_hello(const char *run, struct base_arena *mem, struct view_job_identity *id)
{
	DIR *d = opendir(run);
	const char *dot;
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		dot = strrchr(e->d_name, '.');
		if (dot && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool")))
			found = peek_file(base_arena_printf(mem, "%s/%s", run, e->d_name), mem, id);
	}
	if (d)
		closedir(d);
}
