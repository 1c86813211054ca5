/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of a made-up run, written through wire as libprof would have: Hello, names, blocks of
 * events, evidence, Bye. Events gather by kind until they are written, behind the names that they
 * use. Times are ns; @now is the time that a frame says it was made at. What goes wrong ends the
 * program with a word on stderr. One thread.
 */
#ifndef TESTS_MADE_H
#define TESTS_MADE_H

#include <stdbool.h>
#include <stdio.h>
#include "wire/encoder.h"
#include "wire/session.pb-c.h"

struct made_stream {
	FILE *file;
	struct wire_encoder *encoder;
	struct wire_strtab *names;
	struct wire_buf out;
	uint32_t next_name; /* those before it are written */
	struct {
		struct wire_event *ev;
		size_t n, room;
	} rows[WIRE_KIND_MAX];
};

/* Ends the program unless @good: "PROGRAM: @what". */
void made_need(bool good, const char *what);

void made_open(struct made_stream *s, const char *path, const uint8_t id[16]);

/* What was not written is forgotten. */
void made_close(struct made_stream *s);

/* Its id; 0 for an empty text. */
uint32_t made_name(struct made_stream *s, const char *text, size_t len);

/* The next row of @kind, all else 0; valid until the next one of that kind. */
struct wire_event *made_event(struct made_stream *s, int kind, int64_t start_ns, int64_t end_ns);

/* By end, as records of operations that ran come. */
void made_sort(struct made_stream *s, int kind);

/* One block of the rows [@first, @first + @n) of a kind, which stay. */
void made_block(struct made_stream *s, int kind, size_t first, size_t n, int64_t now);

/* All rows of a kind, or of all kinds, in blocks as long as they may be. They are forgotten. */
void made_flush_kind(struct made_stream *s, int kind, int64_t now);
void made_flush(struct made_stream *s, int64_t now);

/* Frames of at most @most rows each, behind the names. */
void made_samples(struct made_stream *s, const struct wire_sample *row, size_t n, size_t most,
		  int64_t now);
void made_batches(struct made_stream *s, const struct wire_batch *row, size_t n, size_t most,
		  int64_t now);

void made_names(struct made_stream *s, int64_t now); /* that are not written yet */
void made_message(struct made_stream *s, enum wire_frame_type type, const ProtobufCMessage *msg,
		  int64_t now);
void made_pulse(struct made_stream *s, int64_t t_ns, int64_t now); /* complete up to @t_ns */
void made_bye(struct made_stream *s, int64_t t_ns, int64_t now);

/* The Hello of a process that has one GPU. Set what is left out here before it is written. */
struct made_hello {
	Wire__Hello m;
	Wire__Device device, *devices[1];
	uint8_t uuid[16];
};
void made_hello_init(struct made_hello *h, const char *host, int64_t pid, int64_t start_ns,
		     const char *gpu);

#endif
