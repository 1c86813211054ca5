/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct coll_http, for daemon.c, conn.c, request.c, answer.c and auth.c, which make up the server.
 */
#ifndef COLL_DAEMON_H
#define COLL_DAEMON_H

#include <microhttpd.h>
#include "core/context.h"
#include "http.h"
#include "seats.h"
#include "strangers.h"
#include "tcp_listen.h"
#include "tls.h"

struct coll_http_conn {
	struct MHD_Connection *connection;
	struct coll_tls_set *tls; /* what it shook hands with; NULL: no https */
	int fd;
	int64_t since_ns; /* connected, or its last request was done */
	bool spoke; /* at least one request came */
	struct coll_stranger stranger;
	struct coll_seat seat;
	uint64_t seat_bytes; /* of the present body: when it was seen to bring something last */
	struct coll_http_request *request; /* the present one */
	struct coll_http_conn *next, **link;
};

struct coll_http {
	struct coll_source source; /* first: the daemon's epoll descriptor */
	const struct coll_http_options *opts;
	const struct coll_http_parts *parts;
	struct coll_context *context;
	struct MHD_Daemon *daemon;
	struct coll_address address;
	struct coll_tls tls;
	struct coll_tokens tokens;
	struct coll_teams teams;
	struct coll_team *open_team; /* no tokens are used: everybody is of it */
	struct coll_http_conn *conns;
	size_t conn_count;
	struct coll_strangers strangers;
	struct coll_seats seats;
	struct coll_http_request *requests; /* all that have begun */
	size_t suspended;
	bool resumed; /* a connection was, since MHD_run: MHD_get_timeout does not count that */
	int64_t ticked_ns; /* monotonic: when the clock was followed last, 0: never */
	int64_t commit_ns; /* monotonic: when to commit for those that wait, 0: nobody does */
	bool idle_due; /* streams that are idle are to be closed once the round is over */
	struct coll_sync_round round; /* for those that began to wait before it did */
	int64_t logged_s; /* monotonic seconds: when a refusal was last logged or left out */
	unsigned int lines; /* that may be logged now */
	uint64_t unlogged; /* left out of the log since the last line */
	bool draining;
	size_t reviews_held; /* bytes of reviews that have not come whole */
};

/* conn.c: of NOTIFY_CONNECTION, and of the tick. */
void coll_http_on_connection(void *cls, struct MHD_Connection *connection, void **context,
			     enum MHD_ConnectionNotificationCode code);
struct coll_http_conn *coll_http_conn_of(struct MHD_Connection *connection);
/* A request on it was authenticated: it is no stranger any more, but this team's. */
void coll_http_is_known(struct coll_http *h, struct coll_http_request *r);
void coll_http_is_busy(struct coll_http_request *r); /* some of its body came */
/* It waits for us, or does so no more. */
void coll_http_keep(struct coll_http_request *r, bool kept);
void coll_http_close_slow(struct coll_http *h, int64_t now_ns);

/* What is answered here. */
const struct coll_route *const *coll_http_routes(const struct coll_http *h);

/* request.c: of the access handler, and of NOTIFY_COMPLETED. */
enum MHD_Result coll_http_on_access(void *cls, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **own);
void coll_http_on_completed(void *cls, struct MHD_Connection *connection, void **own,
			    enum MHD_RequestTerminationCode code);

#endif
