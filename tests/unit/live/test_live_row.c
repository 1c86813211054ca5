/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of pulses: which row a frame is, lines and back, hostile ones. */
#include "harness.h"

#include <errno.h>
#include "live/row.h"

#define S LIVE_SECOND_NS

static struct wire_frame frame_of(uint16_t type, uint64_t seq, int64_t time_ns)
{
	return (struct wire_frame){ .version = WIRE_FRAME_VERSION,
				    .type = type,
				    .stream = { 0xab, 1 },
				    .seq = seq,
				    .time_ns = time_ns };
}

static bool row(struct live_row *r, uint16_t type, uint64_t seq, int64_t time_ns, bool first)
{
	struct wire_frame f = frame_of(type, seq, time_ns);

	return live_row_of(r, NULL, &f, NULL, first);
}

static void test_slots(void)
{
	struct live_row r, later;

	EXPECT(row(&r, WIRE_FRAME_HELLO, 1, 0, false) && r.slot == LIVE_ROW_HELLO && r.rank == 1);
	EXPECT_STR(r.stream, "ab010000000000000000000000000000");
	EXPECT(row(&r, WIRE_FRAME_BYE, 9, 0, true) && r.slot == LIVE_ROW_BYE && r.rank == 9);
	/* Of two first ones the earlier holds, of two of a stretch the later. */
	EXPECT(row(&r, WIRE_FRAME_PULSE, 2, 0, true) && row(&later, WIRE_FRAME_PULSE, 3, 0, true));
	EXPECT(r.slot == LIVE_ROW_FIRST && later.slot == r.slot && r.rank > later.rank);
	EXPECT(row(&r, WIRE_FRAME_PULSE, 2, 59 * S, false) &&
	       row(&later, WIRE_FRAME_PULSE, 3, 119 * S, false));
	EXPECT(r.slot == LIVE_ROW_PULSE + 5 && later.slot == r.slot && r.rank < later.rank);
	EXPECT(row(&r, WIRE_FRAME_PULSE, 2, INT64_MIN, false) && r.slot == LIVE_ROW_PULSE);
	EXPECT(row(&r, WIRE_FRAME_PULSE, 2, INT64_MAX, false) && r.slot < LIVE_ROW_PULSE + 6);
	EXPECT(!row(&r, WIRE_FRAME_PULSE, 0, 0, false));
	EXPECT(!row(&r, WIRE_FRAME_PULSE, UINT64_MAX, 0, false));
	EXPECT(!row(&r, WIRE_FRAME_PULSE, INT64_MAX, 0, true));
	EXPECT(!row(&r, WIRE_FRAME_BLOCK, 2, 0, false));
}

/* Facts by what they tell: of saves by the process's count, a ring. */
static void test_facts(void)
{
	Wire__Facts m = WIRE__FACTS__INIT;
	Wire__Checkpoint c = WIRE__CHECKPOINT__INIT, *saves[1] = { &c };
	Wire__DeviceFacts g = WIRE__DEVICE_FACTS__INIT, *devices[1] = { &g };
	struct live_reader *d = live_reader_new();
	struct wire_frame f = frame_of(WIRE_FRAME_FACTS, 9, 0);
	struct live_row r;
	uint8_t body[256];

	m.checkpoints = saves;
	m.devices = devices;
	c.state = WIRE__SAVE_STATE__SAVE_WHOLE;
	const struct {
		uint64_t told;
		Wire__SaveState state;
		bool saves, devices;
		int slot;
	} is[] = { { 1, WIRE__SAVE_STATE__SAVE_BEGUN, true, false, LIVE_ROW_SAVE + 1 },
		   { 65, WIRE__SAVE_STATE__SAVE_WHOLE, true, true, LIVE_ROW_SAVE + 1 },
		   { UINT64_MAX, WIRE__SAVE_STATE__SAVE_WHOLE, true, true, LIVE_ROW_SAVE + 63 },
		   { 0, WIRE__SAVE_STATE__SAVE_WRITTEN, true, false, LIVE_ROW_WRITTEN },
		   { 0, WIRE__SAVE_STATE__SAVE_WHOLE, false, true, LIVE_ROW_MEMORY },
		   { 0, WIRE__SAVE_STATE__SAVE_OPENED, true, false, -1 },
		   { 0, WIRE__SAVE_STATE__SAVE_WHOLE, true, false, -1 },
		   { 0, WIRE__SAVE_STATE__SAVE_WHOLE, false, false, -1 } };
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		c.told = is[i].told;
		c.state = is[i].state;
		m.n_checkpoints = is[i].saves;
		m.n_devices = is[i].devices;
		f.body_len = f.raw_len = (uint32_t)protobuf_c_message_pack(&m.base, body);
		EXPECT(live_row_of(&r, d, &f, body, true) == (is[i].slot >= 0));
		EXPECT(is[i].slot < 0 || ((int)r.slot == is[i].slot && r.rank == 9));
	}
	body[0] = 0xff;
	EXPECT(!live_row_of(&r, d, &f, body, true));
	EXPECT(live_row_stays(LIVE_ROW_SAVE + 63) && live_row_stays(LIVE_ROW_WRITTEN));
	EXPECT(!live_row_stays(LIVE_ROW_BYE) && !live_row_stays(LIVE_ROW_PULSE + 5));
	live_reader_free(d);
}

static const char *line_of(struct wire_buf *out, const struct live_row *r, const void *bytes,
			   size_t len)
{
	out->len = 0;
	EXPECT_INT(live_row_put(out, r, bytes, len), 0);
	EXPECT(out->len && out->data[out->len - 1] == '\n');
	out->data[out->len - 1] = '\0';
	return (const char *)out->data;
}

static void test_lines(void)
{
	struct wire_buf out = { .data = NULL }, bytes = { .data = NULL };
	struct wire_frame f = frame_of(WIRE_FRAME_PULSE, 7, 25 * S);
	struct live_row r, got;

	EXPECT_INT(wire_frame_append(&bytes, &f, NULL, 0, NULL, 0), 0);
	EXPECT(live_row_of(&r, NULL, &f, NULL, false));
	snprintf(r.run, sizeof(r.run), "run-1");
	line_of(&out, &r, bytes.data, bytes.len);
	EXPECT(live_row_get(&got, (char *)out.data));
	EXPECT_STR(got.team, "");
	EXPECT_STR(got.run, "run-1");
	EXPECT_STR(got.stream, r.stream);
	EXPECT_INT(got.slot, LIVE_ROW_PULSE + 2);
	EXPECT_INT(got.rank, 7);
	EXPECT_INT((int64_t)got.digits, (int64_t)(2 * bytes.len));
	EXPECT_INT(live_row_put(&out, &r, bytes.data, LIVE_ROW_FRAME_MAX + 1), -EMSGSIZE);
	wire_buf_fini(&out);
	wire_buf_fini(&bytes);
}

static bool good(const char *text)
{
	char line[1024];
	struct live_row r;

	snprintf(line, sizeof(line), "%s", text);
	return live_row_get(&r, line);
}

#define ID "00112233445566778899aabbccddeeff"

static void test_hostile_lines(void)
{
	EXPECT(good("t\tr\t" ID "\t0\t1\t0\tab"));
	EXPECT(good("\tr\t" ID "\t21\t1\t0\t"));
	const char *const bad[] = { "",
				    "\t",
				    "t\tr\t" ID "\t0\t1\t0",
				    "t\tr\t" ID "\t0\t1\t0\tab\tc",
				    "t\t\t" ID "\t0\t1\t0\tab",
				    "t\t../x\t" ID "\t0\t1\t0\tab",
				    "t\t.x\t" ID "\t0\t1\t0\tab",
				    ".t\tr\t" ID "\t0\t1\t0\tab",
				    "t\ta\\nb\t" ID "\t0\t1\t0\tab",
				    "t\tr\t" ID "0\t0\t1\t0\tab",
				    "t\tr\t0011\t0\t1\t0\tab",
				    "t\tr\tg0112233445566778899aabbccddeeff\t0\t1\t0\tab",
				    "t\tr\t" ID "\t6\t1\t0\tab",
				    "t\tr\t" ID "\t22\t1\t0\tab",
				    "t\tr\t" ID "\t31\t1\t0\tab",
				    "t\tr\t" ID "\t96\t1\t0\tab",
				    "t\tr\t" ID "\t-1\t1\t0\tab",
				    "t\tr\t" ID "\t0\t-1\t0\tab",
				    "t\tr\t" ID "\t0\t9223372036854775808\t0\tab",
				    "t\tr\t" ID "\t0\t1\t-1\tab",
				    "t\tr\t" ID "\t0\t1\t99999999999\tab",
				    "t\tr\t" ID "\t0\t1\t0\tabc" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT(!good(bad[i]));
}

/* Frames that are none, or not what the row says, are not believed. */
static void test_hostile_frames(void)
{
	struct wire_buf out = { .data = NULL }, bytes = { .data = NULL };
	struct wire_frame f = frame_of(WIRE_FRAME_BYE, 7, 25 * S);
	struct live_reader *d = live_reader_new();
	struct live_when when = { .now_ns = 100 * S };
	struct live_run run;
	struct live_row r, got;

	live_run_init(&run);
	EXPECT_INT(wire_frame_append(&bytes, &f, NULL, 0, NULL, 0), 0);
	EXPECT(live_row_of(&r, NULL, &f, NULL, false));
	snprintf(r.run, sizeof(r.run), "run-1");
	for (int i = 0; i < 5; i++) {
		struct live_row bent = r;

		bent.rank += i == 1;
		bent.stream[0] = i == 2 ? '0' : 'a';
		line_of(&out, &bent, bytes.data, bytes.len - (i == 3));
		if (i == 4) /* a digit of the frame's sum */
			out.data[out.len - 2] ^= 1;
		EXPECT(live_row_get(&got, (char *)out.data));
		EXPECT_INT(live_row_apply(&run, d, &got, &when), i ? -EBADMSG : 0);
	}
	live_run_fini(&run);
	live_reader_free(d);
	wire_buf_fini(&out);
	wire_buf_fini(&bytes);
}

static void test_alerts(void)
{
	struct live_fired f = { .by = "gateway",
				.condition = "usd>5",
				.metric = LIVE_USD,
				.value = 6,
				.threshold = 5,
				.t_unix_ns = 1000 * S,
				.since_unix_ns = 990 * S };
	struct wire_buf out = { .data = NULL };
	char json[LIVE_FIRED_LINE];
	struct live_row r, other;
	struct live_fired got;
	int len = live_fired_put(&f, json);

	live_row_of_alert(&r, &f);
	snprintf(r.run, sizeof(r.run), "run-1");
	f.budget_pct = 80;
	live_row_of_alert(&other, &f);
	EXPECT(strcmp(r.stream, other.stream) != 0);
	f.budget_pct = 0;
	f.t_unix_ns++;
	live_row_of_alert(&other, &f);
	EXPECT(!strcmp(r.stream, other.stream) && r.rank > other.rank);
	line_of(&out, &r, json, (size_t)len - 1);
	EXPECT(live_row_get(&other, (char *)out.data));
	EXPECT_INT(live_row_fired(&other, &got), 0);
	EXPECT_STR(got.condition, "usd>5");
	EXPECT_INT(got.t_unix_ns, 1000 * S);
	wire_buf_fini(&out);
}

int main(void)
{
	return RUN(test_slots, test_facts, test_lines, test_hostile_lines, test_hostile_frames,
		   test_alerts);
}
