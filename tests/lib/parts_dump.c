/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a run as JSON, for tests of what the analysis keeps (summary/parts_file.h).
 *
 *	parts_dump RUN plain		without the picture of a step, which the others lack
 *	parts_dump RUN keep [EVERY]	keeps what is finished, and takes what is kept; a walk after
 *					each EVERY operations
 *	parts_dump RUN amid EVERY [SEED] goes on from each place at which a walk is kept: how many of them
 *					say what a walk from the beginning says; with SEED each is changed
 *	parts_dump RUN spoil SEED	changes bytes of what is kept, with new checksums; prints nothing
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/picture/picture.h"
#include "base/files.h"
#include "summary/analyse.h"
#include "summary/parts_file.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

#define HEAD 32
#define RECORD 24
#define CRC 16

static struct view_analysis analysis(void)
{
	return (struct view_analysis){ .window = ANA_WINDOW_JOB };
}

static int write_summary(const char *run, const struct view_analysis *a, FILE *to)
{
	struct view_summary *s = NULL;
	int err = view_analyse(run, a, &s);

	if (err)
		return 1;
	ana_picture_free(s->result->picture);
	s->result->picture = NULL;
	view_summary_write(s, to);
	view_summary_free(s);
	return 0;
}

static int dump(const char *run, bool keep, const char *every)
{
	struct view_analysis a = analysis();

	a.keep = keep;
	a.keep_every = (uint32_t)atoi(every);
	return write_summary(run, &a, stdout);
}

/* ---- amid a walk ----------------------------------------------------------------------------- */

#define STOPS_MAX 4096

struct stop { /* a walk that was kept amid */
	uint32_t component;
	uint8_t *bytes;
	size_t len;
};

struct stops {
	struct stop stop[STOPS_MAX];
	size_t count;
	const struct stop *from; /* what is given; NULL: nothing, and what is kept is gathered */
	bool asked; /* for it */
};

static int give(void *arg, uint32_t component, uint8_t **bytes, size_t *len)
{
	struct stops *s = arg;

	if (!s->from || s->from->component != component)
		return -ENOENT;
	s->asked = true;
	*len = s->from->len;
	*bytes = malloc(*len);
	memcpy(*bytes, s->from->bytes, *len);
	return 0;
}

static void gather(void *arg, uint32_t component, const uint8_t *bytes, size_t len)
{
	struct stops *s = arg;
	struct stop *to = &s->stop[s->count];

	if (s->from || !(component & ANA_KEPT_AMID) || s->count == STOPS_MAX)
		return;
	*to = (struct stop){ component, malloc(len), len };
	memcpy(to->bytes, bytes, len);
	s->count++;
}

static void spoil_bytes(uint8_t *bytes, uint64_t len);

static char *summary_of(const char *run, const struct view_analysis *a)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err = write_summary(run, a, f);

	fclose(f);
	if (err) {
		free(text);
		return NULL;
	}
	return text;
}

/* From each place on the walk says what it says from the beginning. */
static int check_stops(const char *run, uint32_t every, bool spoilt)
{
	static struct stops s;
	const struct ana_keeper keeper = { give, gather, &s };
	struct view_analysis a = analysis();
	char *want, *got;
	size_t same = 0, i;

	a.keep_every = every;
	want = summary_of(run, &a);
	a.keeper = &keeper;
	got = summary_of(run, &a);
	if (!want || !got || strcmp(want, got) != 0)
		return 1;
	free(got);
	for (i = 0; i < s.count; i++) {
		s.from = &s.stop[i];
		s.asked = false;
		if (spoilt)
			spoil_bytes(s.stop[i].bytes, s.stop[i].len);
		got = summary_of(run, &a);
		same += s.asked && got && !strcmp(want, got);
		free(got);
	}
	printf("%zu of %zu\n", same, s.count);
	for (i = 0; i < s.count; i++)
		free(s.stop[i].bytes);
	free(want);
	return same == s.count || spoilt ? 0 : 1;
}

/* ---- spoil ----------------------------------------------------------------------------------- */

/* A byte or eight of a record; small numbers and large ones do most harm. */
static void spoil_bytes(uint8_t *bytes, uint64_t len)
{
	static const uint64_t number[] = { 0, 1, 255, UINT32_MAX, INT64_MAX, UINT64_MAX, 1u << 20 };

	for (int n = 1 + rand() % 3; n && len > 16; n--) {
		uint64_t at = (uint64_t)rand() % (len - 8);

		if (rand() % 2)
			bytes[at] = (uint8_t)rand();
		else
			wire_put64(bytes + at, number[rand() % 7]);
	}
}

static void spoil_record(uint8_t *head, uint64_t len)
{
	uint8_t *bytes = head + RECORD;

	spoil_bytes(bytes, len);
	wire_put32(head + CRC, wire_crc32c(wire_crc32c(0, head, CRC), bytes, len));
}

static int spoil(const char *run, unsigned int seed)
{
	char path[4096], *text = NULL;
	size_t len = 0;

	snprintf(path, sizeof(path), "%s/" VIEW_PARTS_FILE, run);
	if (base_file_read(path, &text, &len))
		return 1;
	srand(seed);
	for (size_t at = HEAD; at + RECORD <= len;) {
		uint64_t n = wire_get64((uint8_t *)text + at + 8);

		spoil_record((uint8_t *)text + at, n);
		at += RECORD + n;
	}
	int err = base_file_write(path, text, len);
	free(text);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[2], "spoil"))
		return spoil(argv[1], (unsigned int)atoi(argv[3]));
	if (argc >= 4 && !strcmp(argv[2], "amid")) {
		srand(argc == 5 ? (unsigned int)atoi(argv[4]) : 0);
		return check_stops(argv[1], (uint32_t)atoi(argv[3]), argc == 5);
	}
	if (argc != 3 && argc != 4)
		return 2;
	return dump(argv[1], !strcmp(argv[2], "keep"), argc == 4 ? argv[3] : "0");
}
