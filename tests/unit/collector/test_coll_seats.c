/* SPDX-License-Identifier: Apache-2.0 */
/* Whose connection has to go where teams have too many. */
#include "harness.h"

#include "serve/seats.h"

static struct coll_seats all;
static struct coll_seat_row many, few;
static struct coll_seat crowd[COLL_SEATS_MAX + 100], other[100];

static struct coll_seat *take(struct coll_seat_row *row, struct coll_seat *s)
{
	struct coll_seat_row *from = NULL;
	struct coll_seat *out = coll_seats_take(&all, row, s, &from);

	EXPECT(!out || from == &many);
	EXPECT(!out || !out->row);
	return out;
}

/* All seats are taken: a few by one team, which came first, the rest by the other. */
static void begin(void)
{
	size_t i;

	memset(&all, 0, sizeof(all));
	memset(&many, 0, sizeof(many));
	memset(&few, 0, sizeof(few));
	memset(crowd, 0, sizeof(crowd));
	memset(other, 0, sizeof(other));
	for (i = 0; i < 10; i++)
		EXPECT(!take(&few, &other[i]));
	for (i = 0; i < COLL_SEATS_MAX - 10; i++)
		EXPECT(!take(&many, &crowd[i]));
	EXPECT_UINT(all.count, COLL_SEATS_MAX);
}

/* Whoever comes, the oldest of the many goes, and none of the few. */
static void test_most(void)
{
	size_t i;

	begin();
	EXPECT(take(&few, &other[10]) == &crowd[0]);
	EXPECT(take(&many, &crowd[COLL_SEATS_MAX]) == &crowd[1]);
	EXPECT(take(&few, &other[11]) == &crowd[2]);
	EXPECT_UINT(few.count, 12);
	EXPECT_UINT(all.count, COLL_SEATS_MAX);
	for (i = 0; i < 12; i++)
		EXPECT(other[i].row == &few);
}

/* Who does something is not the idlest, and who waits for us does not go. */
static void test_idlest(void)
{
	begin();
	coll_seats_touch(&all, &crowd[0]);
	coll_seats_touch(&all, &crowd[0]);
	crowd[1].kept = crowd[2].kept = true;
	EXPECT(take(&few, &other[10]) == &crowd[3]);
	crowd[1].kept = false;
	EXPECT(take(&few, &other[11]) == &crowd[1]);
	EXPECT(take(&many, &crowd[5]) == NULL); /* another request on a connection that is there */
	EXPECT(take(&few, &other[12]) == &crowd[4]);
	EXPECT(take(&few, &other[13]) == &crowd[6]);
}

/* Where all of the many wait, he who comes of them has to go himself, and others need not. */
static void test_all_wait(void)
{
	size_t i;

	begin();
	for (i = 0; i < COLL_SEATS_MAX - 10; i++)
		crowd[i].kept = true;
	EXPECT(!take(&few, &other[10]));
	EXPECT(take(&many, &crowd[COLL_SEATS_MAX]) == &crowd[COLL_SEATS_MAX]);
}

/* Who leaves makes room; a connection may come to be of another team; all may end. */
static void test_leave(void)
{
	size_t i;

	begin();
	coll_seats_leave(&all, &crowd[7]);
	coll_seats_leave(&all, &crowd[7]);
	EXPECT(!take(&few, &other[10]));
	EXPECT(!take(&few, &crowd[8]));
	EXPECT_UINT(few.count, 12);
	EXPECT(take(&few, &other[11]) == &crowd[0]);
	coll_seats_touch(&all, &crowd[7]);
	EXPECT(!crowd[7].row);
	for (i = 0; i < COLL_SEATS_MAX; i++)
		coll_seats_leave(&all, &crowd[i]);
	for (i = 0; i < 12; i++)
		coll_seats_leave(&all, &other[i]);
	EXPECT_UINT(all.count + many.count + few.count, 0);
	EXPECT(!many.oldest && !many.newest && !few.oldest && !few.newest);
}

int main(void)
{
	return RUN(test_most, test_idlest, test_all_wait, test_leave);
}
