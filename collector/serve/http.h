/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP(S) server: libmicrohttpd, driven by the collector's one loop. One thread; no handler may
 * wait for anything.
 *
 * Life of a request:
 *
 *   headers in   The path is looked up (route.h); no route: 404, or 405. The credential is looked up
 *                (auth.h); none that fits: 401 or 403. Declared body above body_max: 413. Then
 *   begin()      once. r->team, r->param are filled. Sets r->own.
 *   body()       for each piece of the body as it comes, some KiB each; the whole body is never in
 *                memory unless the handler keeps it. Not called after an answer was given: the rest
 *                of the body is then read and thrown away, for HTTP/1.1 knows no other way. A
 *                body of unknown length that passes body_max ends the connection.
 *   end()        the whole body is in (at once where there is none). Not called after an answer.
 *                Either it answers, or the request is suspended: nothing more is heard of its peer,
 *                and coll_http_answer may be called later, from anywhere in the loop (a timer, the
 *                end of a child process, the commit of what it brought).
 *   gone()       exactly once for each begin, whatever happened: the answer was sent, the peer went
 *                away, the server ends. Frees r->own; @r must not be used after. A suspended
 *                request is never gone before it was answered, except that at the server's end all
 *                are answered with 503.
 *
 * An answer may be given in begin, body, end or later, and only once: r->answered says so, further
 * ones are ignored. Everything handed over is copied or taken, as said.
 *
 * Limits: headers of at most about COLL_HTTP_MEMORY bytes; COLL_HTTP_CONNECTIONS connections, of
 * which strangers (strangers.h) have a quarter at most and teams (seats.h) the rest, but for those
 * about to be closed; with S the seconds of --silence, a connection that says nothing for
 * COLL_HTTP_IDLE * S is closed; so is one that takes longer than COLL_HTTP_HEADERS * S for the
 * headers of its next request, sends a body more slowly than COLL_HTTP_BYTES_PER_S on average
 * (after a start of S), or takes longer than
 * COLL_HTTP_ANSWER_S to read an answer.
 */
#ifndef COLL_HTTP_H
#define COLL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "core/loop.h"
#include "route.h"
#include "team.h"

#define COLL_HTTP_MEMORY (32u << 10)
#define COLL_HTTP_CONNECTIONS 4096
#define COLL_HTTP_IDLE 2
#define COLL_HTTP_HEADERS 3
#define COLL_HTTP_BYTES_PER_S 1024
#define COLL_HTTP_ANSWER_S 600
#define COLL_HTTP_DISCARD (64u << 10) /* so much of a refused body is read */
#define COLL_HTTP_COMMIT_MS 50
#define COLL_HTTP_STREAM_IDLE_S 60 /* then a stream is closed; the next frame opens it again */
#define COLL_HTTP_STREAM_BYE_S 5 /* the same, once it has said goodbye */
#define COLL_HTTP_HEADERS_OUT 8
#define COLL_HTTP_PEER_BYTES 64

struct coll_clients;
struct coll_context;
struct coll_counters;
struct coll_digests;
struct coll_gateway;
struct coll_http;
struct coll_inject;
struct coll_intake;
struct coll_limits;
struct coll_render_jobs;
struct coll_run_index;
struct coll_runs;
struct MHD_Connection;
struct MHD_Response;

/* --listen or --admission, and options. Texts are the command line's; NULL: not given. */
struct coll_http_options {
	const char *listen; /* URL */
	const char *cert, *key, *client_ca; /* PEM files */
	const char *token_file;
	bool no_token, insecure_http;
	/* --admission: pods' reviews alone are answered, whoever asks; NULL: --listen */
	const struct coll_inject *inject;
};

struct coll_work;

/* The collector's parts that requests ask about, all borrowed. A gateway has these alone: */
struct coll_http_parts {
	struct coll_gateway *gateway; /* NULL: it is none */
	int silence_s;
	struct coll_context *context;
	/* And a collector: */
	struct coll_intake *intake;
	const struct coll_clients *clients;
	struct coll_store *store; /* of who needs no token */
	struct coll_retention *retention;
	const struct coll_limits *limits; /* as they hold now */
	struct coll_run_index *index;
	const struct coll_digests *digests;
	struct coll_runs *runs;
	struct coll_render_jobs *render;
	const char *digest_store; /* --store; NULL: none */
	const struct coll_work *work; /* NULL: none */
};

struct coll_http_request {
	struct coll_http *http;
	const struct coll_http_parts *parts;
	struct coll_counters *count; /* the collector's */
	const struct coll_route *route;
	struct coll_team *team; /* whose token it was; NULL: the route needs none */
	unsigned int scopes; /* that token's */
	char param[COLL_ROUTE_PARAMS][COLL_ROUTE_PARAM_BYTES];
	char peer[COLL_HTTP_PEER_BYTES]; /* address, for logs */
	int64_t since_ns; /* monotonic: when its headers were in */
	int64_t received_ns; /* realtime: the same */
	uint64_t body_bytes; /* that came so far */
	bool ended; /* the whole body is in */
	bool answered;
	void *own; /* the handler's */

	/* The server's. */
	struct MHD_Connection *connection;
	struct MHD_Response *response;
	unsigned int status;
	bool begun, suspended, queued;
	unsigned int headers;
	struct {
		const char *name;
		char *value;
	} header[COLL_HTTP_HEADERS_OUT];
	void (*committed)(struct coll_http_request *r);
	bool in_round; /* the round that is on its way makes durable what it waits for */
	struct coll_http_request *next, **link;
};

/*
 * Answers with a copy of the bytes. @type: the media type, NULL: none. What every answer carries
 * besides: no-store, nosniff, no-referrer, and a Content-Security-Policy that allows nothing unless
 * one was set with coll_http_header.
 */
void coll_http_answer(struct coll_http_request *r, unsigned int status, const char *type,
		      const void *bytes, size_t len);

/* The same; @bytes, of malloc, are taken (also where there was an answer already). */
void coll_http_answer_taking(struct coll_http_request *r, unsigned int status, const char *type,
			     void *bytes, size_t len);

/* 200 with what @write writes, which says nothing where there is no memory: then 503. */
void coll_http_answer_written(struct coll_http_request *r, const char *type,
			      void (*write)(FILE *f, struct coll_http_request *r, const void *arg),
			      const void *arg);

/* @size bytes of a file from its beginning, read as the peer takes them; @fd is taken. */
void coll_http_answer_fd(struct coll_http_request *r, unsigned int status, const char *type, int fd,
			 uint64_t size);

/* One line or more of text/plain. */
__attribute__((format(printf, 3, 4))) void coll_http_text(struct coll_http_request *r,
							  unsigned int status, const char *fmt,
							  ...);

/*
 * Calls @then once everything that this team's streams hold now is durable, or closed because it
 * could not be made so. From end() alone. Requests that come close together share the waiting for
 * the disk: that is COLL_HTTP_COMMIT_MS, and what the disk takes for what came before them and then
 * for them.
 */
void coll_http_when_durable(struct coll_http_request *r, void (*then)(struct coll_http_request *r));

/* A header of the answer, to be set before it; @name is kept, @value copied. */
void coll_http_header(struct coll_http_request *r, const char *name, const char *value);

/* A header of the request, or a parameter of its query (unescaped it is not); NULL: not there. */
const char *coll_http_asked(const struct coll_http_request *r, const char *header);
const char *coll_http_query(const struct coll_http_request *r, const char *name);

/*
 * Starts to listen as the options say; both are borrowed. 0 or -errno, what went wrong is logged.
 * *out: NULL without --listen.
 */
int coll_http_open(struct coll_http **out, const struct coll_http_options *o,
		   const struct coll_http_parts *parts);

/* "https://127.0.0.1:8443", as it listens (port 0 replaced by the one that was given). */
const char *coll_http_url(const struct coll_http *h);

/*
 * Reads tokens and certificates again, and says so. Each by itself: of files with a mistake, which
 * is logged, what they said before holds. Connections that are there go on; new ones see what is
 * new.
 */
void coll_http_reload(struct coll_http *h);

/* How long the loop may wait: milliseconds, -1: for ever. @h may be NULL here and below. */
int coll_http_timeout(struct coll_http *h);

/* After each turn of the loop; and about once a second, to close who is slow. */
void coll_http_turn(struct coll_http *h);
void coll_http_tick(struct coll_http *h);

/* Nobody is connected. */
bool coll_http_idle(const struct coll_http *h);

/* No new connections from now on; waits a little until answers that were given are sent. */
void coll_http_drain(struct coll_http *h);

/* Answers what is suspended with 503, closes all, frees. */
void coll_http_close(struct coll_http *h);

#endif
