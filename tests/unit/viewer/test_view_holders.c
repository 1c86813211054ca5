/* SPDX-License-Identifier: Apache-2.0 */
/* Who held which GPU, out of looks with known times; and the digest of it. */
#include "harness.h"

#include "holders/row.h"

#define S INT64_C(1000000000)

static int64_t born[100]; /* by pid; 0: gone */
static enum view_holder_kind kinds[100];

static int64_t began(pid_t pid)
{
	return born[pid] ? born[pid] : -1;
}

static void describe(struct view_holder *h)
{
	h->kind = kinds[h->pid];
	snprintf(h->user, sizeof(h->user), "u%d", (int)h->pid);
}

static const struct view_holder_source who = { began, describe };
static struct view_holders all;
static struct view_look look;
static int64_t now;

static void begin(void)
{
	view_holders_fini(&all);
	memset(&look, 0, sizeof(look));
	now = 100 * S;
	for (int i = 0; i < 100; i++) {
		born[i] = 1000 + i;
		kinds[i] = VIEW_HOLDER_UNWRAPPED;
	}
	look.gpus = 2;
	for (int i = 0; i < 2; i++) {
		snprintf(look.gpu[i].uuid, sizeof(look.gpu[i].uuid), "GPU-%d", i);
		snprintf(look.gpu[i].name, sizeof(look.gpu[i].name), "NVIDIA H100 80GB HBM3");
		look.gpu[i].percent = 50;
	}
}

static void hold(int gpu, pid_t a, pid_t b)
{
	look.gpu[gpu].holders = (a > 0) + (b > 0);
	look.gpu[gpu].holder[0] = a;
	look.gpu[gpu].holder[1] = b;
}

static void pass(int64_t seconds)
{
	now += seconds * S;
	EXPECT_INT(view_holders_take(&all, &look, now, 1700000000 * S + now, 20 * S, &who), 0);
}

static const struct view_holder *of(pid_t pid)
{
	for (size_t i = 0; i < all.count; i++)
		if (all.list[i].pid == pid)
			return &all.list[i];
	return NULL;
}

static int64_t held(pid_t pid)
{
	int64_t sum = 0;

	for (size_t g = 0; of(pid) && g < of(pid)->gpus; g++)
		sum += of(pid)->gpu[g].held_ns;
	return sum;
}

static void test_between_looks(void)
{
	begin();
	hold(0, 7, 0);
	pass(0);
	EXPECT_INT(held(7), 0); /* nobody knows since when */
	pass(10);
	EXPECT_INT(held(7), 10 * S);
	EXPECT_INT(of(7)->gpu[0].busy_ns, 5 * S);
	hold(0, 0, 0);
	pass(10); /* nor when it let go */
	EXPECT_INT(held(7), 10 * S);
	hold(0, 7, 0);
	pass(10); /* it begins anew */
	EXPECT_INT(held(7), 10 * S);
	pass(10);
	EXPECT_INT(held(7), 20 * S);
	pass(21); /* the machine slept */
	EXPECT_INT(held(7), 20 * S);
	hold(1, 7, 0);
	pass(10);
	pass(10); /* two GPUs at once */
	EXPECT_INT(held(7), 50 * S);
	EXPECT_UINT(of(7)->gpus, 2);
}

static void test_shared(void)
{
	begin();
	kinds[8] = VIEW_HOLDER_RECORDED;
	hold(0, 7, 8);
	pass(0);
	pass(10);
	EXPECT_INT(held(7), 5 * S); /* the other half is in a run */
	born[8] = 0; /* of another namespace, or gone: its part is nobody's */
	pass(10);
	EXPECT_INT(held(7), 10 * S);
	hold(0, 7, 9);
	pass(10); /* 9 is new */
	pass(10);
	EXPECT_INT(held(7), 20 * S);
	EXPECT_INT(held(9), 5 * S);
}

static void test_same_number(void)
{
	begin();
	hold(0, 7, 0);
	pass(0);
	pass(10);
	born[7] = 5; /* another process of that number */
	pass(10);
	EXPECT_UINT(all.count, 2);
	pass(10);
	EXPECT_INT(all.list[0].gpu[0].held_ns, 10 * S);
	EXPECT_INT(all.list[1].gpu[0].held_ns, 10 * S);
	EXPECT(!all.list[0].seen && all.list[1].seen);
	view_holders_forget(&all);
	EXPECT_UINT(all.count, 1);
	EXPECT_INT(all.list[0].start_ticks, 5);
}

static void test_minutes(void)
{
	begin();
	hold(0, 7, 0);
	look.gpu[0].percent = 3;
	pass(0);
	for (int i = 0; i < 12; i++)
		pass(10);
	look.gpu[0].percent = 100;
	for (int i = 0; i < 9; i++)
		pass(10);
	look.gpu[0].percent = -1; /* not known: in no minute, and not busy */
	for (int i = 0; i < 9; i++)
		pass(10);
	EXPECT_INT(of(7)->gpu[0].minutes[ANA_BAND_IDLE], 2);
	EXPECT_INT(of(7)->gpu[0].minutes[ANA_BAND_80], 1);
	EXPECT_INT(held(7), 300 * S);
	EXPECT_INT(of(7)->gpu[0].busy_ns, 93600 * (S / 1000));
}

static void test_row(void)
{
	struct view_prices none = { .rows = 0 }, catalogue = { .rows = 0 };
	const struct view_row_of by = { "host", "red", "on-demand", &none, &catalogue };
	struct fleet_digest d, back;
	const char *why;
	char *text;

	view_prices_builtin(&catalogue);
	begin();
	hold(0, 7, 0);
	hold(1, 7, 0);
	pass(0);
	EXPECT(!view_holder_row(&d, of(7), &by, 5)); /* nothing yet */
	snprintf(look.gpu[1].name, sizeof(look.gpu[1].name), "NVIDIA Unheard");
	for (int i = 0; i < 360; i++)
		pass(10);
	REQUIRE(view_holder_row(&d, of(7), &by, 5));
	text = fleet_digest_write(&d);
	REQUIRE(text && !fleet_digest_read(&back, text, strlen(text), &why));
	free(text);
	EXPECT_STR(back.kind, "unwrapped");
	EXPECT_STR(back.verdict, "unwrapped");
	EXPECT_STR(back.user, "u7");
	EXPECT_STR(back.job, "");
	EXPECT_INT(fleet_digest_held_ns(&back), 7200 * S);
	EXPECT_UINT(back.lines, 1); /* a GPU keeps the name that it was first seen by */
	EXPECT(back.line[0].priced);
	EXPECT_INT(back.line[0].usd, 2 * back.line[0].nano_usd_per_hour);
	EXPECT_INT(back.share[0].ns, 7200 * S);
	EXPECT_INT(back.share[0].usd, back.line[0].usd);
	EXPECT_INT(back.line[0].wasted_ns, 0);
	view_prices_fini(&catalogue);
	view_prices_fini(&none);
}

static void test_bounds(void)
{
	begin();
	look.gpu[0].holders = VIEW_LOOK_HOLDERS;
	for (int i = 0; i < VIEW_LOOK_HOLDERS; i++)
		look.gpu[0].holder[i] = 10 + i;
	pass(0);
	pass(10);
	EXPECT_UINT(all.count, VIEW_LOOK_HOLDERS);
	EXPECT_INT(held(10), 10 * S / VIEW_LOOK_HOLDERS);
	view_holders_fini(&all);
}

int main(void)
{
	return RUN(test_between_looks, test_shared, test_same_number, test_minutes, test_row,
		   test_bounds);
}
