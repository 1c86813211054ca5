/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python reader, written from docs/FORMAT.md alone, finds what wire finds: a run directory with
 * a stored stream, spool segments that repeat frames, and damage.
 */
#include "harness.h"

#include "stream.h"
#include "wire/block.h"

static char dir[256];

static void write_part(const char *name, const uint8_t *bytes, size_t len)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	t_write_file(path, bytes, len);
}

/* What the reader prints; skips the test where it cannot run. */
static void run_reader(const char *option, char *out, size_t size)
{
	char command[1200];
	size_t len;
	FILE *f;

	if (system("python3 -c 'import ctypes; ctypes.CDLL(\"libzstd.so.1\")' 2>/dev/null"))
		SKIP("no python3 with libzstd.so.1");
	snprintf(command, sizeof(command), "python3 '%s/lib/gst_reader.py' '%s' %s", TESTS_DIR, dir,
		 option);
	f = popen(command, "r");
	REQUIRE(f);
	len = fread(out, 1, size - 1, f);
	out[len] = '\0';
	REQUIRE(!pclose(f));
}

static void clean(void)
{
	static const char *const name[] = { "a.gst", "c.gst", "b.1.spool", "b.2.spool",
					    "run.json" };
	char path[400];
	size_t i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
		unlink(path);
	}
}

static void append_device(char *out, size_t size, const char *stream, uint32_t device, uint64_t ops,
			  uint64_t busy, bool more)
{
	size_t len = strlen(out);
	int i;

	len += (size_t)snprintf(out + len, size - len, "{\"device\": \"");
	for (i = 0; i < WIRE_STREAM_ID_BYTES; i++)
		len += (size_t)snprintf(out + len, size - len, "%02x", (uint8_t)stream[i]);
	snprintf(out + len, size - len, "/%u\", \"ops\": %" PRIu64 ", \"busy_ns\": %" PRIu64 "}%s",
		 device, ops, busy, more ? ", " : "");
}

/* One block of each of several shapes; the head's own numbers are what is expected. */
static void make_blocks(struct wire_buf *b, struct wire_block_head *h, const char *id, bool wild)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)id, 3);
	static struct wire_event ev[3000];
	struct t_job j = t_job_begin(7, 4);
	uint64_t rnd = 9;
	size_t i, n = wild ? 150 : 3000;

	for (i = 0; i < n; i++)
		ev[i] = t_job_op(&j);
	if (wild)
		t_events_wild(ev, n, 1, &rnd);
	for (i = 0; wild && i < n; i++) { /* the reader leaves bad ops out; the head counts them */
		ev[i].device = 5;
		if (ev[i].end_ns < ev[i].start_ns)
			ev[i].end_ns = ev[i].start_ns;
	}
	REQUIRE(!wire_block_head_of(h, ev, n));
	REQUIRE(!wire_encoder_block(e, ev, n, NULL, 0, b));
	wire_encoder_free(e);
}

static void test_same(void)
{
	struct wire_buf a = { 0 }, b = { 0 }, s = { 0 };
	char got[4096], want[4096];
	struct wire_block_head ha, hb;
	struct t_stream t;

	make_blocks(&a, &ha, "stream a........", false);
	make_blocks(&b, &hb, "stream c........", true);
	t_stream_make(&t, "stream b........", 5, 3);
	write_part("a.gst", a.data, a.len);
	write_part("c.gst", b.data, b.len);
	write_part("run.json", (const uint8_t *)"{}", 2);
	/* The first segment is cut; the second repeats the names, and frames are missing. */
	write_part("b.1.spool", t.bytes.data, t.at[2] + 30);
	REQUIRE(!wire_buf_append(&s, t.bytes.data, t.at[2]));
	REQUIRE(!wire_buf_append(&s, t.bytes.data + t.at[5], t.bytes.len - t.at[5]));
	write_part("b.2.spool", s.data, s.len);
	run_reader("", got, sizeof(got));
	/* Stream b: Hello, names, ranges, pulse, Bye. */
	snprintf(want, sizeof(want), "{\"frames\": 7, \"damaged_bytes\": 30, \"devices\": [");
	append_device(want, sizeof(want), "stream a........", 0, ha.device[0].ops,
		      ha.device[0].busy_ns, true);
	append_device(want, sizeof(want), "stream c........", 5, hb.device[0].ops,
		      hb.device[0].busy_ns, false);
	strcat(want, "]}\n");
	EXPECT_STR(got, want);
	wire_buf_fini(&a);
	wire_buf_fini(&b);
	wire_buf_fini(&s);
	wire_buf_fini(&t.bytes);
	clean();
}

#define METER_BYTES 40 /* that a pulse may take for one, a second and device */

/* A meter with all there is costs a pulse little; pulses of before have none. */
static void test_meters(void)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"stream a........", 3);
	Wire__PulseMeter all = WIRE__PULSE_METER__INIT, ring = WIRE__PULSE_METER__INIT;
	Wire__PulseDevice full = WIRE__PULSE_DEVICE__INIT, old = WIRE__PULSE_DEVICE__INIT;
	Wire__PulseDevice *devices[2] = { &old, &full };
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	Wire__Bye bye = WIRE__BYE__INIT;
	struct wire_buf b = { 0 };
	char got[4096];
	size_t without;

	old.ordinal = 1;
	full.ordinal = 0;
	full.ops = old.ops = 70000;
	pulse.t_ns = INT64_C(1700000000000000000);
	pulse.n_devices = 2;
	pulse.devices = devices;
	without = wire__pulse__get_packed_size(&pulse);
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_PULSE, &pulse.base, 1, &b));
	full.meter = &all;
	all.source = 1;
	all.known = 127;
	all.age_us = 1500000;
	all.span_us = 2000000;
	all.busy = all.sm = all.occupancy = all.tensor = all.dram = 10000;
	all.pcie_tx_mib = all.pcie_rx_mib = 2000000;
	EXPECT(wire__pulse__get_packed_size(&pulse) - without <= METER_BYTES);
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_PULSE, &pulse.base, 2, &b));
	full.meter = &ring;
	ring.source = 2;
	ring.known = 1;
	ring.span_us = 1000000;
	bye.last = &pulse;
	REQUIRE(!wire_encoder_message(e, WIRE_FRAME_BYE, &bye.base, 3, &b));
	write_part("a.gst", b.data, b.len);
	run_reader("--meters", got, sizeof(got));
	EXPECT_STR(got, "[{\"stream\": \"73747265616d20612e2e2e2e2e2e2e2e\", \"ordinal\": 0, "
			"\"start_ns\": 1699999996500000000, \"end_ns\": 1699999998500000000, "
			"\"gpm\": true, \"busy\": 10000, \"sm\": 10000, \"occupancy\": 10000, "
			"\"tensor\": 10000, \"dram\": 10000, \"pcie_tx_mib\": 2000000, "
			"\"pcie_rx_mib\": 2000000}, "
			"{\"stream\": \"73747265616d20612e2e2e2e2e2e2e2e\", \"ordinal\": 0, "
			"\"start_ns\": 1699999999000000000, \"end_ns\": 1700000000000000000, "
			"\"gpm\": false, \"busy\": 0}]\n");
	wire_encoder_free(e);
	wire_buf_fini(&b);
	clean();
}

int main(void)
{
	int status;

	t_tempdir(dir, sizeof(dir));
	status = RUN(test_same, test_meters);
	clean();
	rmdir(dir);
	return status;
}
