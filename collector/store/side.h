/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small files beside a run's streams that go from node to centre, and what a scheduler's job
 * was given, which goes as if the job's folder were a run. Any thread.
 */
#ifndef COLL_SIDE_H
#define COLL_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include "run_name.h"

#define COLL_SIDE_MAX (1u << 20) /* bytes of one */
#define COLL_SIDE_STORED "stored\n" /* the centre's answers: it has it, ... */
#define COLL_SIDE_NO_NAME "no file of a run has that name\n" /* ... never will, ... */
#define COLL_SIDE_OTHER "another file is there\n" /* ... or has another than was to be replaced */

#define COLL_SIDE_TAG_BYTES 64
#define COLL_SIDE_DIGEST_BYTES 65
#define COLL_SIDE_DIGEST "Gpustarve-Digest" /* header of a PUT */
#define COLL_SIDE_NOTHING "*" /* the condition of who expects that there is none yet */

/* What a file that is sent is for: the digest is of all of this. */
struct coll_side {
	const char *run, *name, *node;
	const char *condition; /* If-Match, COLL_SIDE_NOTHING, or "": none */
	const uint8_t *bytes;
	size_t len;
};

/* SHA-256 of "RUN/NAME\nNODE\nCONDITION\n" and the bytes, as hex. False: no memory. */
bool coll_side_digest(char hex[COLL_SIDE_DIGEST_BYTES], const struct coll_side *s);

/*
 * The entity tag of a file as it lies there. Each time that it is replaced as a whole, also by what
 * it was before, it gets another.
 */
void coll_side_tag(char tag[COLL_SIDE_TAG_BYTES], const struct stat *st);

/*
 * The same of bytes that lie where no file does: equal bytes have the same, whoever asks. False: no
 * memory.
 */
bool coll_side_tag_of(char tag[COLL_SIDE_TAG_BYTES], const void *bytes, size_t len);

/* What a server may say as a tag of such a file. */
bool coll_side_tag_ok(const char *tag, size_t len);

/*
 * run.json, alerts.jsonl, alerts-node-*.jsonl, exit-*.json, alloc-*.json, clock-*.json,
 * unrecorded-*; * as in names of runs.
 */
bool coll_side_name_ok(const char *name);

/* A node as part of a file's name; "" where it does not say (NULL) who it is. */
#define COLL_SIDE_NODE_BYTES 128
#define COLL_SIDE_OWNER ".run-node" /* beside run.json: the node whose it is */
void coll_side_node(char out[COLL_SIDE_NODE_BYTES], const char *node);

/*
 * Under which name a side file is kept that @node sends (serve/stored_as.h); @own: the run's
 * run.json is that of this node.
 */
void coll_side_name(char *out, size_t room, const char *name, const char *node, bool own);

/* Whether a file tells that a process or, with these bytes of run.json, a run has ended. */
bool coll_side_tells_end(const char *name, const void *bytes, size_t len);

/* alloc-*.json, what a job was given on a node. */
#define COLL_SIDE_ALLOCATION "alloc-"
bool coll_side_is_allocation(const char *name);

/* That, or unrecorded-*: what lies in a job's folder. */
bool coll_side_is_of_job(const char *name);

/* begun-*.json: how an object store has an allocation without an end (gateway/put_side.h). */
bool coll_side_is_begun(const char *name);

/*
 * Whether these bytes of an allocation, or the last of them, say when the GPUs were given back:
 * that is the last member.
 */
#define COLL_SIDE_ALLOC_TAIL 256 /* so many */
bool coll_side_alloc_has_end(const void *bytes, size_t len);

/*
 * What the directory is called that a file of @run lies in: RUN.gst, or the job's folder if @run is
 * its name and the file is of a job.
 */
void coll_side_directory(char out[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)], const char *run,
			 const char *name);

#endif
