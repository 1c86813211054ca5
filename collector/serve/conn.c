/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections, and who is too slow to keep one.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "core/clock.h"
#include "core/log.h"
#include "daemon.h"

#define CROWDED_LOOK_NS (COLL_SECOND_NS / 10)

struct coll_http_conn *coll_http_conn_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static const struct sockaddr *address_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

/* The daemon sees its end and closes it. */
static void hang_up(struct coll_http_conn *c)
{
	if (c->fd >= 0)
		shutdown(c->fd, SHUT_RDWR);
	c->fd = -1;
}

static void greet(struct coll_http *h, struct coll_http_conn *c)
{
	struct coll_stranger *out =
		coll_strangers_add(&h->strangers, &c->stranger, address_of(c->connection));

	if (!out)
		return;
	h->context->count.http_crowded++;
	hang_up((struct coll_http_conn *)((char *)out - offsetof(struct coll_http_conn, stranger)));
}

void coll_http_is_known(struct coll_http *h, struct MHD_Connection *connection)
{
	struct coll_http_conn *c = coll_http_conn_of(connection);

	if (c)
		coll_strangers_remove(&h->strangers, &c->stranger);
}

static bool is_crowded(const struct coll_http *h)
{
	return h->conn_count >= COLL_HTTP_CONNECTIONS - COLL_HTTP_SPARE;
}

/* Who comes may wait for the place of one that is too slow, and not for the next tick. */
static void make_place(struct coll_http *h, int64_t now_ns)
{
	if (is_crowded(h) && now_ns - h->slow_ns >= CROWDED_LOOK_NS)
		coll_http_close_slow(h, now_ns);
}

static void opened(struct coll_http *h, struct MHD_Connection *connection, void **context)
{
	struct coll_http_conn *c = calloc(1, sizeof(*c));

	h->context->count.http_connections++;
	if (!c) /* its handshake fails, or its first request is refused */
		return;
	c->tls = coll_tls_begin(&h->tls, connection);
	c->connection = connection;
	c->fd = socket_of(connection);
	c->since_ns = coll_now_ns();
	c->next = h->conns;
	c->link = &h->conns;
	if (c->next)
		c->next->link = &c->next;
	h->conns = c;
	h->conn_count++;
	*context = c;
	greet(h, c);
	make_place(h, c->since_ns);
}

static void closed(struct coll_http *h, struct coll_http_conn *c)
{
	if (!c)
		return;
	h->context->count.http_mute += !c->spoke;
	coll_strangers_remove(&h->strangers, &c->stranger);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	h->conn_count--;
	coll_tls_end(c->tls);
	free(c);
}

void coll_http_on_connection(void *cls, struct MHD_Connection *connection, void **context,
			     enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		opened(cls, connection, context);
	} else {
		closed(cls, *context);
		*context = NULL;
	}
}

static bool too_slow(const struct coll_http *h, const struct coll_http_conn *c, int64_t now)
{
	const struct coll_http_request *r = c->request;
	int64_t age, silence_s = h->parts->silence_s, start_s = silence_s;

	if (!r)
		return now - c->since_ns > COLL_HTTP_HEADERS * silence_s * COLL_SECOND_NS;
	age = (now - r->since_ns) / COLL_SECOND_NS;
	if (r->suspended)
		return false;
	if (r->ended)
		return age > COLL_HTTP_ANSWER_S;
	if (is_crowded(h) && start_s > COLL_HTTP_CROWDED_S)
		start_s = COLL_HTTP_CROWDED_S;
	return age > start_s && r->body_bytes / (uint64_t)age < COLL_HTTP_BYTES_PER_S;
}

void coll_http_close_slow(struct coll_http *h, int64_t now_ns)
{
	struct coll_http_conn *c;

	h->slow_ns = now_ns;
	for (c = h->conns; c; c = c->next) {
		if (c->fd < 0 || !too_slow(h, c, now_ns))
			continue;
		h->context->count.http_slow++;
		coll_note("%s: too slow; closed", c->request ? c->request->peer : "a connection");
		hang_up(c);
	}
}
