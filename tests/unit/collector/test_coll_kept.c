/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a store in any order, some twice, some of before, some later than others: what they say
 * of the run in the end is always the same.
 */
#include "harness.h"

#include "alert/kept_rows.h"

#define S LIVE_SECOND_NS
#define START (1000 * S)
#define PULSES 300
#define STREAMS 3
#define ROUNDS 200
#define ROWS (STREAMS * (PULSES + 3))

static struct live_row row[ROWS];
static size_t rows;
static uint64_t seed = 1;

static uint64_t chance(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % below;
}

/* One row of a frame with this message in it. */
static void add(uint8_t id, uint16_t type, uint64_t seq, int64_t made_ns, bool first,
		const ProtobufCMessage *m)
{
	struct wire_frame f = { .version = WIRE_FRAME_VERSION,
				.type = type,
				.stream = { id },
				.seq = seq,
				.time_ns = made_ns };
	struct wire_buf bytes = { .data = NULL }, line = { .data = NULL };
	uint8_t body[512];
	struct live_row *r = &row[rows++];
	size_t len = protobuf_c_message_pack(m, body);

	f.raw_len = (uint32_t)len;
	EXPECT_INT(wire_frame_append(&bytes, &f, NULL, 0, body, len), 0);
	EXPECT(live_row_of(r, NULL, &f, NULL, first));
	snprintf(r->run, sizeof(r->run), "run");
	EXPECT_INT(live_row_put(&line, r, bytes.data, bytes.len), 0);
	line.data[line.len - 1] = '\0';
	EXPECT(live_row_get(r, (char *)line.data)); /* the text stays */
	wire_buf_fini(&bytes);
}

static void add_stream(uint8_t id)
{
	Wire__Hello h = WIRE__HELLO__INIT;
	Wire__Device d = WIRE__DEVICE__INIT, *devices[1] = { &d };
	uint8_t uuid[16] = { id };
	char name[] = "GPU", host[] = "node";

	d.name = name;
	d.uuid = (ProtobufCBinaryData){ 16, uuid };
	h.host = host;
	h.process_start_ns = START;
	h.devices = devices;
	h.n_devices = 1;
	add(id, WIRE_FRAME_HELLO, 1, START, false, &h.base);
	for (int i = 1; i <= PULSES; i++) {
		Wire__Pulse p = WIRE__PULSE__INIT;
		Wire__PulseDevice used = WIRE__PULSE_DEVICE__INIT, *uses[1] = { &used };
		char level[] = "1";

		used.busy_ns = (uint64_t)i * S / (id + 1u);
		used.ops = (uint64_t)i;
		p.t_ns = p.complete_ns = START + i * S;
		p.level = level;
		p.devices = uses;
		p.n_devices = 1;
		add(id, WIRE_FRAME_PULSE, (uint64_t)i + 1, START + i * S, false, &p.base);
		if (i == 1 || i == 200) /* who came later takes another for the first */
			add(id, WIRE_FRAME_PULSE, (uint64_t)i + 1, START + i * S, true, &p.base);
	}
}

static void expect_same(const struct live_totals *a, const struct live_totals *b)
{
	EXPECT_INT(b->held_ns, a->held_ns);
	EXPECT_INT(b->busy_ns, a->busy_ns);
	EXPECT_INT(b->training_ns, a->training_ns);
	EXPECT_INT(b->now.busy_ppm, a->now.busy_ppm);
	EXPECT_INT(b->now.window_ns, a->now.window_ns);
	EXPECT_INT(b->nano_usd, a->nano_usd);
	EXPECT_INT(b->idle_ns, a->idle_ns);
	EXPECT_INT(b->quiet_ns, a->quiet_ns);
	EXPECT_INT((int64_t)b->alive, (int64_t)a->alive);
}

static void test_any_order(void)
{
	struct live_when when = { .now_ns = 5000 * S };
	struct live_reader *d = live_reader_new();
	struct live_totals want, got;
	struct live_run run;

	for (uint8_t id = 1; id <= STREAMS; id++)
		add_stream(id);
	live_run_init(&run);
	run.nano_usd_per_hour = 3600;
	for (int round = 0; round < ROUNDS; round++) {
		struct coll_kept_rows k = { .row = NULL };
		size_t extra = round ? chance(ROWS) : 0;

		for (size_t i = rows; round && i > 1; i--) {
			size_t at = chance(i);
			struct live_row r = row[at];

			row[at] = row[i - 1];
			row[i - 1] = r;
		}
		for (size_t i = 0; i < rows + extra; i++) {
			EXPECT_INT(coll_kept_rows_add(&k, &row[i < rows ? i : chance(rows)],
						      when.now_ns),
				   0);
			if (!chance(100))
				EXPECT_INT((int64_t)coll_kept_rows_make(&k, &run, d, &when), 0);
		}
		EXPECT_INT((int64_t)coll_kept_rows_make(&k, &run, d, &when), 0);
		EXPECT_INT((int64_t)k.rows, STREAMS * (2 + LIVE_ROW_STRETCHES));
		EXPECT(!k.fresh);
		live_run_totals(&run, when.now_ns, &got);
		if (!round)
			want = got;
		expect_same(&want, &got);
		coll_kept_rows_fini(&k);
	}
	EXPECT_INT((int64_t)want.alive, STREAMS);
	EXPECT_INT(want.held_ns, STREAMS * PULSES * S);
	EXPECT_INT(want.busy_ns, PULSES * S / 2 + PULSES * S / 3 + PULSES * S / 4);
	EXPECT(want.priced && want.now.known);
	EXPECT_INT(want.now.busy_ppm, (500000 + 333333 + 250000) / 3);
	live_run_fini(&run);
	live_reader_free(d);
}

int main(void)
{
	return RUN(test_any_order);
}
