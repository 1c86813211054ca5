/* SPDX-License-Identifier: Apache-2.0 */
#include "peek.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "wire/reader.h"
#include "wire/session.pb-c.h"

#define FRAMES 4 /* looked at; a stream begins with its Hello */
#define RECORD_BYTES_MAX ((size_t)1 << 20)

/* run.json; NULL: there is none, or it cannot be read. */
static const struct base_json *record_of(const char *run, struct base_arena *mem)
{
	struct base_json_error bad = { NULL, 0 };
	const struct base_json *root;
	char *text;
	size_t len;

	if (base_file_read(base_arena_printf(mem, "%s/run.json", run), &text, &len))
		return NULL;
	root = len <= RECORD_BYTES_MAX ? base_json_parse(mem, text, len, &bad) : NULL;
	free(text);
	return root;
}

bool view_peek_record(const char *run, struct base_arena *mem, struct view_job_identity *id)
{
	const struct base_json *root = record_of(run, mem);

	if (root)
		view_job_from_json(id, base_json_get(root, "slurm"));
	return root || !access(base_arena_printf(mem, "%s/run.json", run), F_OK);
}

const char *view_hello_variable(void *hello, const char *name)
{
	const Wire__Hello *h = hello;

	for (size_t i = 0; i < h->n_environment; i++)
		if (!strcmp(h->environment[i]->key, name))
			return h->environment[i]->value;
	return NULL;
}

/* @hello: of the file's first Hello; true: that was it. */
struct peek {
	void (*hello)(void *arg, Wire__Hello *h);
	void *arg;
};

static bool peek_file(const char *path, const struct peek *p)
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
		p->hello(p->arg, (Wire__Hello *)m);
		protobuf_c_message_free_unpacked(m, NULL);
		found = true;
	}
	wire_file_close(file);
out:
	wire_scratch_free(scratch);
	return found;
}

static void peek_run(const char *run, const struct peek *p)
{
	struct base_arena mem = { 0 };
	DIR *d = opendir(run);
	const char *dot;
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		dot = strrchr(e->d_name, '.');
		if (dot && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool")))
			found = peek_file(base_arena_printf(&mem, "%s/%s", run, e->d_name), p);
	}
	if (d)
		closedir(d);
	base_arena_fini(&mem);
}

struct wanted_identity {
	struct base_arena *mem;
	struct view_job_identity *id;
};

static void take_identity(void *arg, Wire__Hello *h)
{
	struct wanted_identity *w = arg;

	view_job_from(w->id, view_hello_variable, h);
	view_job_keep(w->id, w->mem);
}

void view_peek_hello(const char *run, struct base_arena *mem, struct view_job_identity *id)
{
	struct wanted_identity w = { mem, id };

	peek_run(run, &(struct peek){ take_identity, &w });
}

struct wanted_label {
	const char *key, *value;
	bool found;
};

static void look_for_label(void *arg, Wire__Hello *h)
{
	struct wanted_label *w = arg;

	for (size_t i = 0; i < h->n_labels; i++)
		w->found |= !strcmp(h->labels[i]->key, w->key) &&
			    !strcmp(h->labels[i]->value, w->value);
}

bool view_peek_labelled(const char *run, const char *key, const char *value)
{
	struct wanted_label w = { key, value, false };
	struct base_arena mem = { 0 };
	const struct base_json *root = record_of(run, &mem), *labels;

	labels = base_json_get(root, "labels");
	if (base_json_count(labels))
		w.found = !strcmp(base_json_get_text(labels, key, ""), value);
	else
		peek_run(run, &(struct peek){ look_for_label, &w });
	base_arena_fini(&mem);
	return w.found;
}
