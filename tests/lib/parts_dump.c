/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a run as JSON, for tests of what the analysis keeps (summary/parts_file.h).
 *
 *	parts_dump RUN plain		without the picture of a step, which the others lack
 *	parts_dump RUN keep		keeps what is finished, and takes what is kept
 *	parts_dump RUN spoil SEED	changes bytes of what is kept, with new checksums; prints nothing
 */
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

static int dump(const char *run, bool keep)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB, .keep = keep };
	struct view_summary *s = NULL;
	int err = view_analyse(run, &a, &s);

	if (err)
		return 1;
	ana_picture_free(s->result->picture);
	s->result->picture = NULL;
	view_summary_write(s, stdout);
	view_summary_free(s);
	return 0;
}

/* A byte or eight of a record; small numbers and large ones do most harm. */
static void spoil_record(uint8_t *head, uint64_t len)
{
	static const uint64_t number[] = { 0, 1, 255, UINT32_MAX, INT64_MAX, UINT64_MAX, 1u << 20 };
	uint8_t *bytes = head + RECORD;

	for (int n = 1 + rand() % 3; n && len > 16; n--) {
		uint64_t at = (uint64_t)rand() % (len - 8);

		if (rand() % 2)
			bytes[at] = (uint8_t)rand();
		else
			wire_put64(bytes + at, number[rand() % 7]);
	}
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
	if (argc != 3)
		return 2;
	return dump(argv[1], !strcmp(argv[2], "keep"));
}
