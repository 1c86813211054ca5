/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti.h"

#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Sources, by fact:
 *
 *	PICKS_CALLS, PER_THREAD_*, GRAPHS_WHOLE: release notes of 12.3, 12.4 update 1, 12.5, 12.6 update
 *	2 (https://docs.nvidia.com/cupti/release-notes/release-notes.html). Graphs as a whole crashed with
 *	copies and memsets in them before 12.4 update 1, which has 12.4's number; flushing the buffers of
 *	other threads was not safe before 12.6 update 2, which has 12.6's. So both hold for the whole
 *	number.
 *	TAKES_NULL: release notes of 12.9, the same page.
 *	TELLS_HELD: cupti_activity.h of 13.1 is the first with CUpti_ActivityHostLaunch.
 *	PASSIVE, LONG_GRAPHS: release notes of 13.0 update 1,
 *	https://forums.developer.nvidia.com/t/cuda-profiler-tools-interface-cupti-13-0-is-now-available/341320
 *	LONG_GRAPHS begins with 12.0 update 1, when CUPTI's buffers moved to the device
 *	(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE in cupti_activity.h), which has 12.0's number.
 *	STALE_NAMES: release notes of 13.4 update 1,
 *	https://forums.developer.nvidia.com/t/cuda-profiler-tools-interface-cupti-13-4-is-now-available/383026
 *	NEEDS_DRIVER, ENDLESS: seen, with the wheels below and no driver.
 *
 * Behind each row the wheels it was read from.
 */
#define OLD FACTS_CUPTI_STALE_NAMES
#define OLD_LONG (OLD | FACTS_CUPTI_LONG_GRAPHS)
#define SINCE_12_5 (FACTS_CUPTI_PICKS_CALLS | FACTS_CUPTI_GRAPHS_WHOLE)
#define SINCE_12_9 (SINCE_12_5 | FACTS_CUPTI_TAKES_NULL)
#define SINCE_13_1 (SINCE_12_9 | FACTS_CUPTI_TELLS_HELD)
#define NOW (SINCE_13_1 | FACTS_CUPTI_NEEDS_DRIVER)

static const struct facts_cupti rows[] = {
	/* kernel, memcpy, memset, peer, sync, api, graph */
	{ 18, "11.8", OLD, { 200, 88, 88, 96, 40, 40, 48 } }, /* cu11 11.8.87 */
	{ 18,
	  "12.0 or 12.1",
	  OLD_LONG,
	  { 208, 88, 88, 96, 40, 40, 48 } }, /* cu12 12.0.90, 12.0.146,
									     12.1.62, 12.1.105 */
	{ 19, "12.0", OLD_LONG, { 208, 88, 88, 96, 40, 40, 48 } }, /* none: cupti_version.h alone */
	{ 20, "12.2", OLD_LONG, { 208, 88, 88, 96, 40, 40, 48 } }, /* 12.2.60, .131, .142 */
	{ 21,
	  "12.3",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_OFF,
	  { 208, 88, 88, 96, 40, 40, 56 } }, /* 12.3.52, .101 */
	{ 22,
	  "12.4",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_OFF,
	  { 208, 88, 88, 96, 40, 40, 56 } }, /* 12.4.99, .127 */
	{ 23,
	  "12.5",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_OFF | SINCE_12_5,
	  { 208, 88, 88, 96, 40, 40, 56 } }, /* 12.5.39, .82 */
	{ 24,
	  "12.6",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_OFF | SINCE_12_5,
	  { 208, 88, 88, 96, 40, 40, 56 } }, /* 12.6.37, .68, .80 */
	{ 26,
	  "12.8",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_ON | SINCE_12_5,
	  { 208, 96, 88, 96, 56, 40, 56 } }, /* 12.8.57, .90 */
	{ 27,
	  "12.9",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_ON | SINCE_12_9,
	  { 208, 96, 88, 96, 56, 40, 56 } }, /* 12.9.19 */
	{ 28,
	  "12.9 U1",
	  OLD_LONG | FACTS_CUPTI_PER_THREAD_ON | SINCE_12_9,
	  { 208, 96, 88, 96, 56, 40, 56 } }, /* 12.9.79 */
	{ 130000,
	  "13.0",
	  OLD_LONG | SINCE_12_9 | FACTS_CUPTI_PASSIVE,
	  { 216, 96, 88, 96, 56, 40, 56 } }, /* 13.0.48 */
	{ 130001, "13.0 U1", OLD | SINCE_12_9, { 216, 96, 88, 96, 56, 40, 56 } }, /* 13.0.85 */
	{ 130100, "13.1", OLD | SINCE_13_1, { 224, 96, 88, 96, 56, 40, 56 } }, /* 13.1.75 */
	{ 130101, "13.1 U1", OLD | SINCE_13_1, { 224, 96, 88, 96, 56, 40, 56 } }, /* 13.1.115 */
	/* From here on sizes are those of cupti_activity.h: there was no driver to ask beside. */
	{ 130200,
	  "13.2",
	  OLD | NOW | FACTS_CUPTI_ENDLESS,
	  { 224, 96, 88, 96, 56, 40, 56 } }, /* 13.2.23 */
	{ 130201,
	  "13.2 U1",
	  OLD | NOW | FACTS_CUPTI_ENDLESS,
	  { 224, 96, 88, 96, 56, 40, 56 } }, /* 13.2.75 */
	{ 130202,
	  "13.2 U2",
	  OLD | NOW | FACTS_CUPTI_ENDLESS,
	  { 224, 96, 88, 96, 56, 40, 56 } }, /* 13.2.86 */
	{ 130300, "13.3", OLD | NOW, { 232, 96, 88, 96, 56, 40, 56 } }, /* 13.3.35 */
	{ 130301, "13.3 U1", OLD | NOW, { 232, 96, 88, 96, 56, 40, 56 } }, /* 13.3.75 */
	{ 130400, "13.4", OLD | NOW, { 248, 112, 104, 96, 56, 40, 56 } }, /* 13.4.58 */
	{ 130401, "13.4 U1", NOW, { 248, 112, 104, 96, 56, 40, 56 } }, /* 13.4.92 */
	{ 130500, "13.5", NOW, { 248, 112, 104, 96, 56, 40, 56 } }, /* 13.5.25 */
};

static const struct facts_cupti_trouble troubles[] = {
	{ FACTS_CUPTI_PASSIVE,
	  "it may end the program when its buffers are flushed, so it is not used",
	  "use CUDA 13.0 update 1 (nvidia-cuda-cupti 13.0.85) or newer",
	  "https://forums.developer.nvidia.com/t/"
	  "cuda-profiler-tools-interface-cupti-13-0-is-now-available/341320" },
	{ FACTS_CUPTI_LONG_GRAPHS, "it may end long programs that launch CUDA graphs",
	  "use CUDA 13.0 update 1 or newer for those, or GPUSTARVE=0",
	  "https://docs.nvidia.com/cupti/release-notes/release-notes.html" },
	{ FACTS_CUPTI_ENDLESS,
	  "beside a driver that it cannot use it ends the program, so it is used with one of CUDA "
	  "13.2 or newer alone",
	  "use CUDA 13.3 or newer, or 13.1",
	  "seen: nvidia-cuda-cupti 13.2.23, 13.2.75 and 13.2.86 without a driver" },
};

/*
 * Rows of cupti_kinds.def that are not whole. What libprof does not know by name does not compile
 * there.
 */
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, words, place, name)  \
	_Static_assert((number) > 0 && (bytes) >= 8 && (bytes) % 8 == 0, #symbol ": its numbers"); \
	_Static_assert(sizeof(words) > 1, #symbol ": what notes call it");                         \
	_Static_assert(((place) > 0) == (sizeof(name) > 1), #symbol ": doctor's name for it");
#define SWITCH(symbol, bit, word)                                                   \
	_Static_assert((bit) > 0 && ((bit) & ((bit)-1)) == 0, #symbol ": one bit"); \
	_Static_assert(sizeof(word) > 1, #symbol ": its word");
#include "cupti_kinds.def"
/*
 * Places in doctor's list have neither a gap nor two rows: as many bits, the lowest ones, as rows.
 */
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, words, place, name) \
	| 1u << (place)
enum {
	PLACES = 1u
#include "cupti_kinds.def"
};
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, words, place, name) \
	+((place) > 0)
enum {
	PLACED = 0
#include "cupti_kinds.def"
};
_Static_assert(PLACES == (2u << PLACED) - 1, "places in doctor's list");

const struct facts_cupti *facts_cupti_rows(size_t *count)
{
	*count = COUNT(rows);
	return rows;
}

static bool fits(const struct facts_cupti *row, uint32_t kernel_bytes)
{
	return !kernel_bytes || row->bytes.kernel <= kernel_bytes;
}

const struct facts_cupti *facts_cupti(uint32_t version, uint32_t kernel_bytes)
{
	const struct facts_cupti *found = NULL;
	size_t i;

	for (i = 0; i < COUNT(rows) && rows[i].version <= version; i++)
		if (!found || rows[i].version > found->version ||
		    (kernel_bytes && fits(&rows[i], kernel_bytes)))
			found = &rows[i];
	return found;
}

/* From 13.0 on the number says it. */
void facts_cupti_release(char out[32], uint32_t version, uint32_t kernel_bytes)
{
	const struct facts_cupti *row = facts_cupti(version, kernel_bytes);

	if (version >= 100000 && version % 100)
		snprintf(out, 32, "%u.%u U%u", version / 10000, version / 100 % 100, version % 100);
	else if (version >= 100000)
		snprintf(out, 32, "%u.%u", version / 10000, version / 100 % 100);
	else if (!row)
		snprintf(out, 32, "before 11.8");
	else if (row->version == version && !kernel_bytes && version == FACTS_CUPTI_OLDEST)
		snprintf(out, 32, "11.8 to 12.1");
	else
		snprintf(out, 32, "%s", row->version == version ? row->release : "not known");
}

uint32_t facts_cupti_by_symbols(bool (*has)(void *library, const char *name), void *library)
{
	static const struct {
		const char *name;
		uint32_t version;
	} first[] = {
		{ "cuptiClockControlLock", 130400 },
		{ "cuptiGetTimestamp_v2", 130300 },
		{ "cuptiActivityEnable_v2", 130200 },
	};
	size_t i;

	for (i = 0; i < COUNT(first); i++)
		if (has(library, first[i].name))
			return first[i].version;
	return 0;
}

const struct facts_cupti_trouble *facts_cupti_trouble(enum facts_cupti_fact fact)
{
	size_t i;

	for (i = 0; i < COUNT(troubles); i++)
		if (troubles[i].fact == fact)
			return &troubles[i];
	return NULL;
}
