/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request from its headers to its end.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "auth.h"
#include "core/clock.h"
#include "core/log.h"
#include "daemon.h"

/* What stands in for a route where none was found, so that a refusal has words. */
static const struct coll_route unknown = { .method = "a request", .pattern = "of no known path" };

static void name_peer(struct coll_http_request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *sa = info ? info->client_addr : NULL;
	socklen_t len;

	snprintf(r->peer, sizeof(r->peer), "?");
	if (!sa)
		return;
	len = sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	getnameinfo(sa, len, r->peer, sizeof(r->peer), NULL, 0, NI_NUMERICHOST);
}

static struct coll_http_request *request_new(struct coll_http *h, struct MHD_Connection *connection)
{
	struct coll_http_request *r = calloc(1, sizeof(*r));
	struct coll_http_conn *c = coll_http_conn_of(connection);

	if (!r || !c) {
		free(r);
		return NULL;
	}
	r->http = h;
	r->parts = h->parts;
	r->count = &h->context->count;
	r->connection = connection;
	r->route = &unknown;
	r->since_ns = coll_now_ns();
	r->received_ns = coll_clock_ns(CLOCK_REALTIME);
	name_peer(r);
	r->next = h->requests;
	r->link = &h->requests;
	if (r->next)
		r->next->link = &r->next;
	h->requests = r;
	c->request = r;
	c->spoke = true;
	h->context->count.http_requests++;
	return r;
}

void coll_http_on_completed(void *cls, struct MHD_Connection *connection, void **own,
			    enum MHD_RequestTerminationCode code)
{
	struct coll_http_request *r = *own;
	struct coll_http_conn *c = coll_http_conn_of(connection);
	struct coll_http *h = cls;

	(void)code;
	if (c) {
		c->request = NULL;
		c->since_ns = coll_now_ns();
		coll_seats_touch(&h->seats, &c->seat);
	}
	if (!r)
		return;
	*own = NULL;
	if (r->begun && r->route->gone)
		r->route->gone(r);
	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	if (r->response)
		MHD_destroy_response(r->response);
	while (r->headers)
		free(r->header[--r->headers].value);
	free(r);
}

/* The declared length of the body; UINT64_MAX: not declared, 0 where there is none. */
static uint64_t declared(const struct coll_http_request *r)
{
	const char *text = coll_http_asked(r, "Content-Length");
	unsigned long long len;
	char *end;

	if (!text)
		return coll_http_asked(r, "Transfer-Encoding") ? UINT64_MAX : 0;
	errno = 0;
	len = strtoull(text, &end, 10);
	return errno || *end || *text < '0' || *text > '9' ? UINT64_MAX : len;
}

static void not_found(struct coll_http_request *r, const struct coll_route_match *m)
{
	r->count->http_bad++;
	if (!m->allow) {
		coll_http_text(r, 404, "not found\n");
		return;
	}
	coll_http_header(r, "Allow", m->allow);
	coll_http_text(r, 405, "not with this method\n");
}

static void begin(struct coll_http_request *r, const char *method, const char *path)
{
	struct coll_route_match m;
	uint64_t len = declared(r);

	coll_route_find(&m, coll_http_routes(r->http), method, path);
	if (!m.route) {
		not_found(r, &m);
		return;
	}
	r->route = m.route;
	memcpy(r->param, m.param, sizeof(r->param));
	if (!coll_auth(r))
		return;
	if (len > r->route->body_max && (len != UINT64_MAX || !r->route->body_max)) {
		r->count->http_bad++;
		coll_auth_log(r, "its body is too long");
		coll_http_text(r, 413, "at most %llu bytes\n",
			       (unsigned long long)r->route->body_max);
		return;
	}
	r->begun = true;
	if (r->route->begin)
		r->route->begin(r);
}

/* Hands the answer over; once. */
static enum MHD_Result queue(struct coll_http_request *r)
{
	enum MHD_Result done;

	if (r->queued)
		return MHD_YES;
	r->queued = true;
	done = MHD_queue_response(r->connection, r->status, r->response);
	MHD_destroy_response(r->response);
	r->response = NULL;
	return done;
}

static enum MHD_Result take_body(struct coll_http_request *r, const char *bytes, size_t len)
{
	r->body_bytes += len;
	if (r->body_bytes > r->route->body_max && !r->answered) {
		r->count->http_bad++;
		coll_auth_log(r, "its body is too long");
		return MHD_NO;
	}
	/* What follows a refusal is read only to be polite. */
	if (r->answered && r->body_bytes > COLL_HTTP_DISCARD)
		return MHD_NO;
	coll_http_is_busy(r);
	if (!r->answered && r->route->body)
		r->route->body(r, (const uint8_t *)bytes, len);
	return MHD_YES;
}

static enum MHD_Result finish(struct coll_http_request *r)
{
	if (!r->ended) {
		r->ended = true;
		if (!r->answered)
			r->route->end(r);
	}
	if (r->answered)
		return queue(r);
	r->suspended = true;
	r->http->suspended++;
	coll_http_keep(r, true);
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

enum MHD_Result coll_http_on_access(void *cls, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **own)
{
	struct coll_http_request *r = *own;

	(void)version;
	if (!r) {
		r = *own = request_new(cls, connection);
		if (!r)
			return MHD_NO;
		begin(r, method, url);
		return r->answered ? queue(r) : MHD_YES;
	}
	if (*upload_size) {
		size_t len = *upload_size;

		*upload_size = 0;
		return take_body(r, upload, len);
	}
	return finish(r);
}
