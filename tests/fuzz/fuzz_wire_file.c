/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole file from any bytes. The first byte says how: with its lowest bit set the checksums of
 * all frames are made good first, so that what they protect is reached.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include "unit/wire/evidence.h"
#include "unit/wire/stream.h"
#include "wire/reader.h"

static const ProtobufCMessageDescriptor *message_of(uint16_t type)
{
	switch (type) {
	case WIRE_FRAME_HELLO:
		return &wire__hello__descriptor;
	case WIRE_FRAME_STRINGS:
		return &wire__strings__descriptor;
	case WIRE_FRAME_FACTS:
		return &wire__facts__descriptor;
	case WIRE_FRAME_CLOCK:
		return &wire__clock__descriptor;
	case WIRE_FRAME_LOSS:
		return &wire__loss__descriptor;
	case WIRE_FRAME_PULSE:
		return &wire__pulse__descriptor;
	case WIRE_FRAME_BYE:
		return &wire__bye__descriptor;
	default:
		return NULL;
	}
}

static void load(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e)
{
	const ProtobufCMessageDescriptor *type = message_of(e->frame.type);
	struct wire_strtab *names = wire_strtab_new();
	struct wire_sample *sample = NULL;
	struct wire_batch *batch = NULL;
	struct wire_event *ev = NULL;
	struct wire_block_head h;
	ProtobufCMessage *message;
	size_t room = 0, sample_room = 0, batch_room = 0;

	wire_file_strings(f, s, e, names);
	wire_strtab_free(names);
	wire_file_block(f, s, e, &h, &ev, &room, NULL);
	wire_file_samples(f, s, e, &h, &sample, &sample_room);
	wire_file_batches(f, s, e, &h, &batch, &batch_room);
	free(batch);
	free(sample);
	free(ev);
	message = type ? wire_file_message(f, s, e, type) : NULL;
	if (message)
		protobuf_c_message_free_unpacked(message, NULL);
}

static void read_all(const char *path, size_t len)
{
	struct wire_scratch *s = wire_scratch_new();
	const struct wire_damage *d;
	struct wire_entry e[64];
	struct wire_file *f;
	size_t i, n = 0, places;
	uint64_t sum = 0;

	REQUIRE(!wire_file_open(&f, path));
	while (n < 64 && wire_file_next(f, &e[n]) == 1)
		sum += wire_frame_bytes(&e[n++].frame);
	d = wire_file_damage(f, &places);
	for (i = 0; i < places; i++)
		sum += d[i].bytes;
	if (n < 64 && sum != len)
		abort(); /* every byte is a frame's or damage */
	for (i = 0; i < n; i++)
		load(f, s, &e[i]);
	wire_file_close(f);
	wire_scratch_free(s);
}

size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **file)
{
	return fuzz_take(data, len, file, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy;
	char path[64];
	int fd;

	if (!len)
		return 0;
	len = fuzz_file(data, len, &copy);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	REQUIRE(fd >= 0 && write(fd, copy, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, len);
	close(fd);
	free(copy);
	return 0;
}

/* A frame of @type that is not compressed, for messages that the mutator can get at. */
static void add_plain(struct wire_buf *b, uint16_t type, const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);
	uint8_t *bytes = malloc(len + 1);
	struct wire_frame f = { .version = 1, .type = type, .seq = 1, .raw_len = (uint32_t)len };

	protobuf_c_message_pack(m, bytes);
	memcpy(f.stream, "fuzz of messages", 16);
	REQUIRE(!wire_frame_append(b, &f, NULL, 0, bytes, len));
	free(bytes);
}

static void add_messages(struct wire_buf *b)
{
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT, *spans[2] = { &span, &span };
	Wire__StringEntry entry = WIRE__STRING_ENTRY__INIT, *entries[2] = { &entry, &entry };
	Wire__ClockTriplet triplet = WIRE__CLOCK_TRIPLET__INIT, *triplets[1] = { &triplet };
	Wire__Checkpoint point = WIRE__CHECKPOINT__INIT, *points[1] = { &point };
	Wire__Strings strings = WIRE__STRINGS__INIT;
	Wire__Facts facts = WIRE__FACTS__INIT;
	Wire__Clock clock = WIRE__CLOCK__INIT;
	Wire__Loss loss = WIRE__LOSS__INIT;

	span.count = 7;
	entry.id = 3;
	entry.text.data = (uint8_t *)"kernel";
	entry.text.len = 6;
	triplet.cupti_ns = 123456789;
	point.path = (char *)"/ckpt/1";
	strings.n_entries = 2;
	strings.entries = entries;
	facts.n_checkpoints = 1;
	facts.checkpoints = points;
	clock.n_triplets = 1;
	clock.triplets = triplets;
	loss.n_spans = 2;
	loss.spans = spans;
	add_plain(b, WIRE_FRAME_STRINGS, &strings.base);
	add_plain(b, WIRE_FRAME_FACTS, &facts.base);
	add_plain(b, WIRE_FRAME_CLOCK, &clock.base);
	add_plain(b, WIRE_FRAME_LOSS, &loss.base);
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	uint8_t how = (uint8_t)(number & 1);
	struct wire_buf b = { 0 };
	struct t_stream s;

	if (number >= 8)
		return 0;
	REQUIRE(!wire_buf_append(&b, &how, 1));
	if (number < 4) {
		t_stream_make(&s, "stream to fuzz..", number < 2 ? 3 : 200, number);
		REQUIRE(!wire_buf_append(&b, s.bytes.data, s.bytes.len));
		wire_buf_fini(&s.bytes);
	} else if (number < 6) {
		add_messages(&b);
	} else {
		t_evidence_make(&b, 50);
	}
	*data = b.data;
	return b.len;
}
