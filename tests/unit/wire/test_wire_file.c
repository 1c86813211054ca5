/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader: what the encoder made comes back; damage is located and passed; files that change
 * while they are read, that lie about lengths or that are no files do no harm.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "stream.h"
#include "wire/reader.h"

static char dir[256], path[512];
static struct t_stream good;
static struct wire_scratch *scratch;

struct seen {
	struct wire_entry entry[200];
	unsigned int frames;
	uint64_t bad;
	size_t places;
};

static void see(struct seen *s)
{
	const struct wire_damage *d;
	struct wire_file *f;
	size_t i;

	memset(s, 0, sizeof(*s));
	REQUIRE(!wire_file_open(&f, path));
	while (s->frames < 200 && wire_file_next(f, &s->entry[s->frames]) == 1)
		s->frames++;
	d = wire_file_damage(f, &s->places);
	for (i = 0; i < s->places; i++)
		s->bad += d[i].bytes;
	wire_file_close(f);
}

static void test_round(void)
{
	struct wire_event ev[3] = {
		{ .start_ns = 10, .end_ns = 20, .kind = 1, .op = 1, .name = 1, .stream = 7 },
		{ .start_ns = 15, .end_ns = 30, .kind = 1, .op = 2, .name = 2, .device = 3 },
		{ .start_ns = INT64_MAX, .end_ns = INT64_MIN, .kind = 1, .corr = UINT64_MAX },
	};
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"0123456789abcdef", 3);
	uint32_t lost[WIRE_BLOCK_DEVICES_MAX] = { [3] = 9 };
	struct wire_event *events = NULL;
	struct wire_block_head head, plain;
	struct wire_buf out = { 0 };
	struct wire_entry entry;
	struct wire_file *f;
	size_t room = 0;

	EXPECT_INT(wire_encoder_block(e, ev, 3, lost, 7, &out), 0);
	EXPECT_UINT(wire_encoder_seq(e), 1);
	EXPECT(wire_encoder_bytes(e) > 1000);
	t_write_file(path, out.data, out.len);
	REQUIRE(!wire_file_open(&f, path));
	EXPECT_UINT(wire_file_size(f), out.len);
	EXPECT_INT(wire_file_next(f, &entry), 1);
	EXPECT_INT(wire_block_head_get(&plain, wire_file_head(f), entry.frame.head_len), 0);
	EXPECT_INT(wire_file_block(f, scratch, &entry, &head, &events, &room, NULL), 0);
	EXPECT_UINT(head.count, 3);
	EXPECT_UINT(plain.count, 3);
	EXPECT_MEM(wire_encoder_head(e), &plain,
		   offsetof(struct wire_block_head, device[plain.devices]));
	EXPECT_UINT(head.device[1].lost, 9);
	EXPECT_UINT(head.device[1].busy_ns, 15);
	EXPECT_MEM(events, ev, sizeof(ev));
	EXPECT_INT(wire_file_next(f, &entry), 0);
	EXPECT(!wire_file_head(f));
	wire_file_close(f);
	free(events);
	wire_buf_fini(&out);
	wire_encoder_free(e);
}

/* On an error the encoder gives nothing and uses up no number. */
static void test_encoder_errors(void)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"0123456789abcdef", 3);
	struct wire_event ev[2] = { { .kind = 1 }, { .kind = 2 } };
	struct wire_buf out = { .cap = 100 };
	Wire__Pulse pulse = WIRE__PULSE__INIT;

	EXPECT_INT(wire_encoder_block(e, ev, 2, NULL, 0, &out), -EINVAL);
	EXPECT_INT(wire_encoder_block(e, ev, 0, NULL, 0, &out), -EINVAL);
	EXPECT_INT(wire_encoder_block(e, ev, 1, NULL, 0, &out), -ENOSPC);
	EXPECT_UINT(wire_encoder_seq(e), 0);
	EXPECT_UINT(out.len, 0);
	EXPECT_INT(wire_encoder_message(e, WIRE_FRAME_PULSE, &pulse.base, 0, &out), 0);
	EXPECT_UINT(wire_encoder_seq(e), 1);
	wire_buf_fini(&out);
	wire_encoder_free(e);
	wire_encoder_free(NULL);
}

static void check_block(struct wire_file *f, const struct wire_entry *e)
{
	struct wire_event *ev = NULL;
	struct wire_block_head head;
	size_t room = 0;

	EXPECT_INT(wire_file_block(f, scratch, e, &head, &ev, &room, NULL), 0);
	EXPECT_UINT(head.count, 40);
	EXPECT_UINT(ev[39].kind, head.kind);
	free(ev);
}

/* Each kind of frame is loaded, in any order after the scan. */
static void test_load(void)
{
	struct wire_strtab *names = wire_strtab_new();
	struct seen s;
	struct wire_file *f;
	unsigned int i;
	Wire__Hello *hello;

	t_write_file(path, good.bytes.data, good.bytes.len);
	see(&s);
	EXPECT_UINT(s.frames, good.frames);
	EXPECT_UINT(s.places, 0);
	REQUIRE(!wire_file_open(&f, path));
	for (i = s.frames; i-- > 0;) {
		const struct wire_entry *e = &s.entry[i];

		EXPECT_UINT(e->offset, good.at[i]);
		EXPECT_UINT(e->frame.seq, i + 1);
		if (e->frame.type == WIRE_FRAME_BLOCK || e->frame.type == WIRE_FRAME_RANGES)
			check_block(f, e);
	}
	hello = (Wire__Hello *)wire_file_message(f, scratch, &s.entry[0], &wire__hello__descriptor);
	REQUIRE(hello);
	EXPECT_STR(hello->host, "box");
	EXPECT_STR(hello->devices[0]->name, "Test GPU");
	wire__hello__free_unpacked(hello, NULL);
	EXPECT_INT(wire_file_strings(f, scratch, &s.entry[1], names), 0);
	EXPECT_UINT(wire_strtab_count(names), 120);
	EXPECT_STR(wire_strtab_get(names, 8, NULL), "void kernel_7<float, 49>(float *)");
	EXPECT_INT(wire_file_strings(f, scratch, &s.entry[1], names), 0);
	EXPECT_INT(wire_file_block(f, scratch, &s.entry[0], NULL, NULL, NULL, NULL), -EINVAL);
	wire_file_close(f);
	wire_strtab_free(names);
}

static void test_cut(void)
{
	unsigned int whole = 0;
	struct seen s;
	size_t len;

	for (len = 0; len <= good.bytes.len; len++) {
		if (whole < good.frames && good.at[whole + 1] <= len)
			whole++;
		t_write_file(path, good.bytes.data, len);
		see(&s);
		EXPECT_UINT(s.frames, whole);
		EXPECT_UINT(s.bad, len - good.at[whole]);
	}
}

/* Damage in two frames: both places are told, in order, and nothing else is lost. */
static void test_damage(void)
{
	struct wire_file *f;
	struct wire_entry e;
	const struct wire_damage *d;
	unsigned int n = 0;
	size_t places;

	good.bytes.data[good.at[2] + 10] ^= 1;
	good.bytes.data[good.at[4] + 100] ^= 1;
	t_write_file(path, good.bytes.data, good.bytes.len);
	good.bytes.data[good.at[2] + 10] ^= 1;
	good.bytes.data[good.at[4] + 100] ^= 1;
	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) == 1)
		n++;
	EXPECT_UINT(n, good.frames - 2);
	d = wire_file_damage(f, &places);
	EXPECT_UINT(places, 2);
	EXPECT_UINT(d[0].offset, good.at[2]);
	EXPECT_UINT(d[0].bytes, good.at[3] - good.at[2]);
	EXPECT_UINT(d[1].offset, good.at[4]);
	EXPECT_UINT(d[1].bytes, good.at[5] - good.at[4]);
	wire_file_close(f);
}

/* Streams one after another are all read; one that shows up only inside of damage is not. */
static void test_streams(void)
{
	struct t_stream other;
	struct wire_buf b = { 0 };
	struct seen s;

	t_stream_make(&other, "stream of test 2", 5, 2);
	wire_buf_append(&b, good.bytes.data, good.bytes.len);
	wire_buf_append(&b, other.bytes.data, other.bytes.len);
	t_write_file(path, b.data, b.len);
	see(&s);
	EXPECT_UINT(s.frames, good.frames + other.frames);
	EXPECT_UINT(s.places, 0);

	b.len = 0;
	wire_buf_append(&b, good.bytes.data, good.at[2]);
	wire_buf_append(&b, "damage", 6);
	wire_buf_append(&b, other.bytes.data, other.bytes.len);
	wire_buf_append(&b, good.bytes.data + good.at[2], good.bytes.len - good.at[2]);
	t_write_file(path, b.data, b.len);
	see(&s);
	EXPECT_UINT(s.frames, good.frames);
	EXPECT_UINT(s.places, 1);
	EXPECT_UINT(s.bad, 6 + other.bytes.len);
	wire_buf_fini(&b);
	wire_buf_fini(&other.bytes);
}

/* A frame larger than the window, between small ones. */
static void test_large(void)
{
	struct wire_buf b = { 0 };
	struct wire_frame f = { .version = 1, .type = 77, .seq = 1 };
	size_t len = WIRE_FRAME_BODY_MAX, i, raw_len;
	uint8_t *body = malloc(len);
	const uint8_t *head, *raw;
	struct wire_file *file;
	uint64_t rnd = 5;
	struct seen s;

	for (i = 0; i < len; i++)
		body[i] = (uint8_t)t_random(&rnd);
	f.raw_len = (uint32_t)len;
	memcpy(f.stream, "stream of test 1", 16);
	wire_buf_append(&b, good.bytes.data, good.bytes.len);
	EXPECT_INT(wire_frame_append(&b, &f, "head", 4, body, len), 0);
	wire_buf_append(&b, good.bytes.data, good.bytes.len);
	t_write_file(path, b.data, b.len);
	see(&s);
	EXPECT_UINT(s.frames, 2 * good.frames + 1);
	EXPECT_UINT(s.places, 0);
	REQUIRE(!wire_file_open(&file, path));
	EXPECT_INT(wire_file_load(file, scratch, &s.entry[good.frames], &head, &raw, &raw_len), 0);
	EXPECT_MEM(head, "head", 4);
	EXPECT_UINT(raw_len, len);
	EXPECT_MEM(raw, body, len);
	wire_file_close(file);
	wire_buf_fini(&b);
	free(body);
}

/* The file is cut, or written over, after it was scanned. */
static void test_changed(void)
{
	struct wire_event *ev = NULL;
	struct wire_block_head head;
	struct wire_file *f;
	struct seen s;
	size_t room = 0;
	int fd;

	t_write_file(path, good.bytes.data, good.bytes.len);
	see(&s);
	REQUIRE(!wire_file_open(&f, path));
	fd = open(path, O_WRONLY);
	REQUIRE(pwrite(fd, "x", 1, (off_t)good.at[3] - 1) == 1);
	EXPECT_INT(wire_file_block(f, scratch, &s.entry[2], &head, &ev, &room, NULL), -EBADMSG);
	EXPECT_INT(wire_file_block(f, scratch, &s.entry[3], &head, &ev, &room, NULL), 0);
	REQUIRE(!ftruncate(fd, (off_t)good.at[3] + 70));
	EXPECT_INT(wire_file_block(f, scratch, &s.entry[3], &head, &ev, &room, NULL), -EBADMSG);
	EXPECT(!wire_file_message(f, scratch, &s.entry[7], &wire__bye__descriptor));
	/* A scan that begins now was opened at the old size. */
	EXPECT_INT(wire_file_next(f, &s.entry[0]), 1);
	EXPECT_INT(wire_file_next(f, &s.entry[0]), 1);
	EXPECT_INT(wire_file_next(f, &s.entry[0]), 0);
	EXPECT_INT(wire_file_next(f, &s.entry[0]), 0);
	close(fd);
	wire_file_close(f);
	free(ev);
}

static void test_no_file(void)
{
	struct wire_file *f = NULL;
	struct wire_entry e;

	EXPECT_INT(wire_file_open(&f, dir), -EISDIR);
	EXPECT_INT(wire_file_open(&f, "/dev/null"), -EINVAL);
	EXPECT_INT(wire_file_open(&f, "/no/such/file"), -ENOENT);
	unlink(path);
	REQUIRE(!mkfifo(path, 0600));
	EXPECT_INT(wire_file_open(&f, path), -EINVAL);
	unlink(path);
	t_write_file(path, "", 0);
	REQUIRE(!wire_file_open(&f, path));
	EXPECT_INT(wire_file_next(f, &e), 0);
	wire_file_close(f);
	wire_file_close(NULL);
}

/* Loads one frame made by hand. */
static int load_made(struct wire_frame f, const void *head, size_t head_len, const void *body,
		     size_t len)
{
	struct wire_event *ev = NULL;
	struct wire_block_head h;
	struct wire_buf b = { 0 };
	struct wire_file *file;
	struct wire_entry e;
	size_t room = 0;
	int err;

	f.version = f.version ? f.version : 1;
	f.type = WIRE_FRAME_BLOCK;
	REQUIRE(!wire_frame_append(&b, &f, head, head_len, body, len));
	t_write_file(path, b.data, b.len);
	REQUIRE(!wire_file_open(&file, path));
	EXPECT_INT(wire_file_next(file, &e), 1);
	err = wire_file_block(file, scratch, &e, &h, &ev, &room, NULL);
	wire_file_close(file);
	wire_buf_fini(&b);
	free(ev);
	return err;
}

/* Good checksums around contents that lie. */
static void test_lies(void)
{
	struct wire_event ev[2] = { { .kind = 1, .start_ns = 5, .end_ns = 9, .name = 3 },
				    { .kind = 1, .start_ns = 7, .end_ns = 11, .name = 2 } };
	struct wire_buf head = { 0 }, columns = { 0 }, body = { 0 };
	struct wire_block_head h;
	uint8_t prefix[2] = { 0x0a };
	size_t i;

	EXPECT_INT(wire_block_encode(1, ev, 2, &columns), 0);
	REQUIRE(columns.len < 128);
	prefix[1] = (uint8_t)columns.len;
	wire_buf_append(&body, prefix, 2);
	wire_buf_append(&body, columns.data, columns.len);
	wire_block_head_of(&h, ev, 2);
	wire_block_head_put(&h, &head);
#define LOAD(...) \
	load_made((struct wire_frame){ __VA_ARGS__ }, head.data, head.len, body.data, body.len)
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len), 0);
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len + 1), -EBADMSG);
	EXPECT_INT(LOAD(.raw_len = 64 << 20, .flags = WIRE_FRAME_FL_ZSTD), -EBADMSG);
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len, .flags = 2), -EPROTO);
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len, .version = 2), -EPROTO);
	for (i = 8; i < 36; i++) { /* any time, or the highest name */
		head.data[i] ^= 1;
		EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len), -EBADMSG);
		head.data[i] ^= 1;
	}
	head.data[4] = 3; /* count */
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len), -EBADMSG);
	head.data[4] = 2;
	body.data[1] = 126; /* length of the columns */
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len), -EBADMSG);
	body.data[0] = 0x12; /* another field */
	body.data[1] = (uint8_t)columns.len;
	EXPECT_INT(LOAD(.raw_len = (uint32_t)body.len), -EBADMSG);
	body.len = 0;
	EXPECT_INT(LOAD(.raw_len = 0), -EBADMSG);
	head.len = 39;
	EXPECT_INT(LOAD(.raw_len = 0), -EBADMSG);
#undef LOAD
	wire_buf_fini(&head);
	wire_buf_fini(&columns);
	wire_buf_fini(&body);
}

/* A body of millions of empty messages would unpack to gigabytes: refused instead. */
static void test_greedy_message(void)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"0123456789abcdef", 3);
	Wire__Device device = WIRE__DEVICE__INIT;
	Wire__Hello hello = WIRE__HELLO__INIT;
	size_t n = 4 << 20, i;
	struct wire_buf out = { 0 };
	struct wire_file *f;
	struct wire_entry entry;

	hello.n_devices = n;
	hello.devices = malloc(n * sizeof(*hello.devices));
	for (i = 0; i < n; i++)
		hello.devices[i] = &device;
	EXPECT_INT(wire_encoder_message(e, WIRE_FRAME_HELLO, &hello.base, 0, &out), 0);
	t_write_file(path, out.data, out.len);
	REQUIRE(!wire_file_open(&f, path));
	EXPECT_INT(wire_file_next(f, &entry), 1);
	EXPECT(!wire_file_message(f, scratch, &entry, &wire__hello__descriptor));
	wire_file_close(f);
	free(hello.devices);
	wire_buf_fini(&out);
	wire_encoder_free(e);
}

/* What was scanned is read without a descriptor of its own, as long as it is the same file. */
static void test_scanned(void)
{
	struct seen s;
	struct wire_file *f;
	unsigned int i;
	int open;

	t_write_file(path, good.bytes.data, good.bytes.len);
	see(&s);
	for (open = 0; open < 2; open++) {
		REQUIRE(!wire_file_open(&f, path));
		wire_file_scanned(f, open);
		for (i = 0; i < s.frames; i++)
			if (s.entry[i].frame.type == WIRE_FRAME_BLOCK)
				check_block(f, &s.entry[i]);
		EXPECT_INT(wire_file_next(f, &s.entry[0]), 0);
		wire_file_close(f);
	}
}

static void test_another_file(void)
{
	const uint8_t *head, *raw;
	struct seen s;
	struct wire_file *f;
	char moved[600];
	size_t len;

	t_write_file(path, good.bytes.data, good.bytes.len);
	see(&s);
	REQUIRE(!wire_file_open(&f, path));
	wire_file_scanned(f, false);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	REQUIRE(!rename(path, moved));
	EXPECT_INT(wire_file_load(f, scratch, &s.entry[0], &head, &raw, &len), -ENOENT);
	t_write_file(path, good.bytes.data, good.bytes.len);
	EXPECT_INT(wire_file_load(f, scratch, &s.entry[0], &head, &raw, &len), -ESTALE);
	REQUIRE(!rename(moved, path));
	EXPECT_INT(wire_file_load(f, scratch, &s.entry[0], &head, &raw, &len), 0);
	wire_file_close(f);
}

/* More names than one frame takes. */
static void test_many_names(void)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"0123456789abcdef", 3);
	struct wire_strtab *t = wire_strtab_new(), *back = wire_strtab_new();
	uint32_t i, next = 1, frames = 0;
	struct wire_buf out = { 0 };
	struct wire_file *f;
	struct wire_entry entry;
	char name[300];

	for (i = 0; i < 5000; i++) {
		memset(name, 'a' + (int)(i % 26), sizeof(name));
		snprintf(name, 20, "%u", i);
		wire_strtab_intern(t, name, sizeof(name));
	}
	while (next <= wire_strtab_count(t)) {
		EXPECT_INT(wire_encoder_strings(e, t, next, &next, 0, &out), 0);
		frames++;
	}
	EXPECT(frames > 3 && wire_encoder_seq(e) == frames);
	EXPECT_INT(wire_encoder_strings(e, t, next, &next, 0, &out), 0);
	EXPECT_UINT(next, 5001);
	EXPECT_UINT(wire_encoder_seq(e), frames);
	t_write_file(path, out.data, out.len);
	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &entry) == 1)
		EXPECT_INT(wire_file_strings(f, scratch, &entry, back), 0);
	EXPECT_UINT(wire_strtab_count(back), 5000);
	for (i = 1; i <= 5000; i++)
		EXPECT_MEM(wire_strtab_get(back, i, NULL), wire_strtab_get(t, i, NULL), 300);
	wire_file_close(f);
	wire_strtab_free(t);
	wire_strtab_free(back);
	wire_buf_fini(&out);
	wire_encoder_free(e);
}

int main(void)
{
	int status;

	t_tempdir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/a.gst", dir);
	scratch = wire_scratch_new();
	t_stream_make(&good, "stream of test 1", 40, 1);
	status = RUN(test_round, test_encoder_errors, test_load, test_cut, test_damage,
		     test_streams, test_large, test_changed, test_no_file, test_lies,
		     test_greedy_message, test_many_names, test_scanned, test_another_file);
	wire_buf_fini(&good.bytes);
	wire_scratch_free(scratch);
	unlink(path);
	rmdir(dir);
	return status;
}
