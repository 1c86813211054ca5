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

#define CROWD_LOG_NS (60 * COLL_SECOND_NS)

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

/* One line a minute: that of whose team it is, and that it is not the network's fault. */
static void log_crowd(struct coll_team *team)
{
	if (!coll_log_due(&team->crowd_logged_ns, CROWD_LOG_NS))
		return;
	coll_log("team %s has %zu connections, the most of all, where others want some: the idlest "
		 "are closed",
		 team->name[0] ? team->name : "without a name", team->seats.count + 1);
}

void coll_http_is_known(struct coll_http *h, struct coll_http_request *r)
{
	struct coll_http_conn *c = coll_http_conn_of(r->connection), *out;
	struct coll_seat_row *row;
	struct coll_seat *seat;

	if (!c)
		return;
	coll_strangers_remove(&h->strangers, &c->stranger);
	c->seat_bytes = 0;
	seat = coll_seats_take(&h->seats, &r->team->seats, &c->seat, &row);
	if (!seat)
		return;
	out = (struct coll_http_conn *)((char *)seat - offsetof(struct coll_http_conn, seat));
	h->context->count.http_idlest++;
	log_crowd((struct coll_team *)((char *)row - offsetof(struct coll_team, seats)));
	hang_up(out);
}

void coll_http_is_busy(struct coll_http_request *r)
{
	struct coll_http_conn *c = coll_http_conn_of(r->connection);

	if (!c || r->body_bytes - c->seat_bytes < COLL_SEAT_BYTES)
		return;
	c->seat_bytes = r->body_bytes;
	coll_seats_touch(&r->http->seats, &c->seat);
}

void coll_http_keep(struct coll_http_request *r, bool kept)
{
	struct coll_http_conn *c = coll_http_conn_of(r->connection);

	if (c)
		c->seat.kept = kept;
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
}

static void closed(struct coll_http *h, struct coll_http_conn *c)
{
	if (!c)
		return;
	h->context->count.http_mute += !c->spoke;
	coll_strangers_remove(&h->strangers, &c->stranger);
	coll_seats_leave(&h->seats, &c->seat);
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
	int64_t age, silence_s = h->parts->silence_s;

	if (!r)
		return now - c->since_ns > COLL_HTTP_HEADERS * silence_s * COLL_SECOND_NS;
	age = (now - r->since_ns) / COLL_SECOND_NS;
	if (r->suspended)
		return false;
	if (r->ended)
		return age > COLL_HTTP_ANSWER_S;
	return age > silence_s && r->body_bytes / (uint64_t)age < COLL_HTTP_BYTES_PER_S;
}

void coll_http_close_slow(struct coll_http *h, int64_t now_ns)
{
	struct coll_http_conn *c;

	for (c = h->conns; c; c = c->next) {
		if (c->fd < 0 || !too_slow(h, c, now_ns))
			continue;
		h->context->count.http_slow++;
		coll_note("%s: too slow; closed", c->request ? c->request->peer : "a connection");
		hang_up(c);
	}
}
