/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections on which a team's token was shown: COLL_SEATS_MAX at a time. One more, and of the
 * team that has the most of them the one is closed that did nothing for longest: whoever takes many
 * takes them from himself, however slowly he uses them, and where there are enough for all, nobody
 * is bounded. What a connection does is begin a request, end one, or bring COLL_SEAT_BYTES of a
 * body. One thread.
 */
#ifndef COLL_SEATS_H
#define COLL_SEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_SEATS_MAX 3008
#define COLL_SEAT_BYTES (64u << 10)

struct coll_seat { /* in a connection; zero at first */
	struct coll_seat_row *row; /* NULL: it has none */
	struct coll_seat *older, *newer;
	bool kept; /* its request waits for us, not we for its peer: it is not asked to go */
};

struct coll_seat_row { /* of a team, zero at first; not to vanish before all */
	struct coll_seat *oldest, *newest;
	size_t count;
	bool known;
	struct coll_seat_row *next;
};

struct coll_seats { /* zero at first */
	struct coll_seat_row *rows;
	size_t count;
};

/*
 * The connection is of this team now, whatever it was before, and did something. The one that has
 * to go for it, which has no seat any more, and in *from whose it was; NULL: nobody has to, or
 * nobody may be asked to.
 */
struct coll_seat *coll_seats_take(struct coll_seats *all, struct coll_seat_row *row,
				  struct coll_seat *s, struct coll_seat_row **from);

/* It did something. Of one without a seat: nothing. */
void coll_seats_touch(struct coll_seats *all, struct coll_seat *s);

/* It is gone. Of one without a seat: nothing. */
void coll_seats_leave(struct coll_seats *all, struct coll_seat *s);

#endif
