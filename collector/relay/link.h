/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the centre: one HTTP request at a time, by libcurl in the collector's loop,
 * over a connection that is kept. Nothing here blocks. Certificates are verified, redirects not
 * followed, and http goes nowhere but to this machine unless that was asked for. One thread.
 *
 * Peers that vanish: 10 s to connect, 30 s without a byte in either direction while a request goes
 * on, TCP keepalive in between; then the request has failed.
 */
#ifndef COLL_LINK_H
#define COLL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/loop.h"
#include "store/epoch.h"
#include "store/side.h"
#include "wire/buf.h"

#define COLL_LINK_CONNECT_S 10
#define COLL_LINK_SILENT_S 30
#define COLL_LINK_ANSWER_MAX (2u << 20)

struct coll_upstream_options;
struct coll_link;

struct coll_answer {
	const char *trouble; /* NULL: an answer came; else why none did */
	long status;
	const uint8_t *bytes; /* valid during the call; a zero stands behind */
	size_t len;
	int64_t retry_after_s; /* 0: not said */
	int64_t stored; /* Gpustarve-Stored; -1: not said */
	bool damaged; /* Gpustarve-Damaged: what it refuses was damaged when it came */
	char tag[COLL_SIDE_TAG_BYTES]; /* ETag of a side file; "": not said */
	uint64_t gather_bytes; /* Gpustarve-Gather (gather.h); 0: not said */
	int64_t gather_s;
	char epoch[COLL_EPOCH_BYTES]; /* Gpustarve-Epoch: which store answers; "": not said */
	int64_t sent_ns, got_ns; /* realtime */
	bool reused; /* it went over a connection that was open already */
};

/* @owner is handed to @done. */
struct coll_request {
	const char *method; /* GET, POST, PUT */
	const char *path; /* "/v1/..." */
	const void *body; /* stays as it is until done */
	size_t len;
	const char *const *headers; /* lines, NULL behind the last; NULL: no others than usual */
	bool ask_first; /* wait for 100 Continue: the last request was refused */
	void (*done)(void *owner, const struct coll_answer *a);
	void *owner;
};

/* @node: a name for this node, sent with each request. NULL: no memory. */
struct coll_link *coll_link_new(struct coll_loop *loop, const struct coll_upstream_options *o,
				const char *node);

/* Starts a request; none may be going on. 0 or -errno, then done is not called. */
int coll_link_send(struct coll_link *l, const struct coll_request *r);
bool coll_link_busy(const struct coll_link *l);

/* Gives a request up; done is not called. */
void coll_link_free(struct coll_link *l);

/* Whether @url may be sent to, as the options stand; says why not. */
bool coll_link_url_ok(const struct coll_upstream_options *o);

/* Whether the files that they name can be read, the token among them; says which cannot. */
bool coll_link_files_ok(const struct coll_upstream_options *o);

#endif
