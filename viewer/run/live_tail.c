/* SPDX-License-Identifier: Apache-2.0 */
#include "live_tail.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "wire/reader.h"
#include "wire/session.pb-c.h"

static struct view_tail_stream *stream_of(struct view_tail *t, const char *path)
{
	for (size_t i = 0; i < t->streams; i++)
		if (!strcmp(t->stream[i].path, path))
			return &t->stream[i];
	if (t->streams == VIEW_TAIL_STREAMS)
		return NULL;
	struct view_tail_stream *s = &t->stream[t->streams++];
	*s = (struct view_tail_stream){ 0 };
	strcpy(s->path, path);
	return s;
}

/* Headers from s->at on; the last entry of each type asked for. False: nothing new. */
static bool walk(struct view_tail_stream *s, struct wire_entry *pulse, struct wire_entry *hello)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);
	uint8_t raw[WIRE_FRAME_HEADER_BYTES];
	bool found = false;
	struct wire_frame f;

	if (fd < 0)
		return false;
	off_t end = lseek(fd, 0, SEEK_END);
	while (pread(fd, raw, sizeof(raw), (off_t)s->at) == (ssize_t)sizeof(raw)) {
		/* Damage: whoever reads the whole file will get over it, this line need not. */
		if (wire_frame_header_get(&f, raw) || s->at + wire_frame_bytes(&f) > (uint64_t)end)
			break;
		if (f.type == WIRE_FRAME_PULSE)
			*pulse = (struct wire_entry){ .frame = f, .offset = s->at };
		if (f.type == WIRE_FRAME_HELLO)
			*hello = (struct wire_entry){ .frame = f, .offset = s->at };
		found |= f.type == WIRE_FRAME_PULSE || f.type == WIRE_FRAME_HELLO;
		s->at += wire_frame_bytes(&f);
	}
	close(fd);
	return found;
}

static void take_hello(struct view_tail_stream *s, const Wire__Hello *h)
{
	s->devices = 0;
	for (size_t i = 0; i < h->n_devices && s->devices < 16; i++) {
		struct view_tail_device *d = &s->device[s->devices++];
		snprintf(d->name, sizeof(d->name), "%.95s", h->devices[i]->name);
		snprintf(d->host, sizeof(d->host), "%.63s", h->host);
	}
}

static void take_pulse(struct view_tail_stream *s, const Wire__Pulse *p)
{
	if (!s->first_ns)
		s->first_ns = p->t_ns;
	s->t_ns = p->t_ns;
	s->loader_wait_ns = p->loader_wait_ns;
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i]->ordinal < s->devices)
			s->device[p->devices[i]->ordinal].busy_ns = p->devices[i]->busy_ns;
}

static void load(struct view_tail_stream *s, const struct wire_entry *pulse,
		 const struct wire_entry *hello)
{
	struct wire_scratch *scratch = wire_scratch_new();
	struct wire_file *file = NULL;

	if (!scratch || wire_file_open(&file, s->path))
		goto out;
	if (hello->frame.type) {
		ProtobufCMessage *m =
			wire_file_message(file, scratch, hello, &wire__hello__descriptor);
		if (m)
			take_hello(s, (const Wire__Hello *)m);
		protobuf_c_message_free_unpacked(m, NULL);
	}
	if (pulse->frame.type) {
		ProtobufCMessage *m =
			wire_file_message(file, scratch, pulse, &wire__pulse__descriptor);
		if (m)
			take_pulse(s, (const Wire__Pulse *)m);
		protobuf_c_message_free_unpacked(m, NULL);
	}
	wire_file_close(file);
out:
	wire_scratch_free(scratch);
}

static void look_at(struct view_tail *t, const char *name)
{
	struct wire_entry pulse = { 0 }, hello = { 0 };
	char path[4400];

	snprintf(path, sizeof(path), "%.4000s/%.300s", t->dir, name);
	struct view_tail_stream *s = stream_of(t, path);
	if (s && walk(s, &pulse, &hello))
		load(s, &pulse, &hello);
}

static bool is_stream(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool"));
}

bool view_tail_look(struct view_tail *t)
{
	DIR *d = opendir(t->dir);
	bool any = false;

	for (struct dirent *e; d && (e = readdir(d));)
		if (is_stream(e->d_name))
			look_at(t, e->d_name);
	if (d)
		closedir(d);
	for (size_t i = 0; i < t->streams; i++)
		any |= t->stream[i].t_ns > t->stream[i].first_ns;
	return any;
}
