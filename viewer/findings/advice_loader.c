/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on the loader's other settings and its source; what contradicts the evidence is left out.
 */
#include <inttypes.h>
#include <string.h>

#include "advice.h"
#include "findings.h"
#include "loader.h"
#include "base/minmax.h"
#include "base/units.h"
#include "words.h"
#include "wire/evidence.h"

#define SMALL_SAMPLE_BYTES 65536
#define MISS_PPM 300000 /* of the bytes not out of the page cache: the disk matters */
#define JITTER(median) ((median)*3 / 2) /* a 95th percentile from here on: batches differ */

/*
 * What is sure of workers that survive: all but the first of each trainer start for nothing, if the
 * first batch of each epoch, which they make anew, takes as long as the slow ones do.
 */
static int64_t surviving_ns(const struct ana_loader_facts *l, int64_t epochs_ns)
{
	int64_t again = (int64_t)l->iterators - (l->trainers ? l->trainers : 1), whole;

	if (again <= 0 || l->fetch_p95_ns <= 0 ||
	    l->fetch_delay_ns > (l->fetch_ns - l->fetch_delay_ns) / VIEW_LACK_PART)
		return 0;
	whole = (int64_t)((__int128)epochs_ns * again / (int64_t)l->iterators);
	if ((__int128)l->fetch_p95_ns * again >= whole)
		return 0;
	return (whole - l->fetch_p95_ns * again) / VIEW_SURE_PART;
}

bool view_advise_epoch(struct view_summary *s, struct view_advice *a)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	struct view_hotspot made;
	base_unit each;

	if (!l)
		return true;
	if (view_advice_without_workers(s)) /* that spares this as well */
		return false;
	bool persistent = l->known & ANA_LOADER_PERSISTENT && l->persistent;
	bool no_workers = l->known & ANA_LOADER_WORKERS && !l->workers;
	if (l->iterators > 1 && !persistent && !no_workers) {
		a->action = base_arena_printf(
			&s->mem,
			"set persistent_workers=True: %" PRIu64 " iterators were made%s, each took "
			"%s to start; workers then survive the epoch",
			l->iterators, view_advice_line(s, a->class),
			base_duration(each, base_div_even(l->open_ns, (__int128)l->iterators)));
		/* The loop's line, where the call's own is not told beside it. */
		if (!view_loader_made_at(s, &made))
			a->brief = base_arena_printf(&s->mem, "%s%s", a->brief,
						     view_advice_line(s, a->class));
		a->saving_least_ns = surviving_ns(l, a->saving_ns);
		return true;
	}
	a->title = no_workers ? "Start epochs sooner" : "Start the loader sooner";
	a->brief = no_workers ? "workers, so that the first batch is made ahead"
			      : "an iterator made before it is needed";
	a->action = no_workers ? "use workers: without any, the first batch of an epoch is made "
				 "while the GPU waits"
			       : "make the iterator before the model is built or the epoch ends, "
				 "keep the data set object small (spawned workers get a copy of "
				 "it), and let one iterator run over several epochs";
	return true;
}

bool view_advise_h2d(struct view_summary *s, struct view_advice *a)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	if (!l || !(l->known & ANA_LOADER_PIN) || !l->pin)
		return true;
	a->brief = "copies from pinned memory only";
	a->action = "the loader pins its batches, and copies still come from pageable memory: "
		    "copy the pinned tensors themselves, with non_blocking=True, and pin what is "
		    "made in between";
	return true;
}

static bool is_network(const char *fs)
{
	static const char *const names[] = {
		"nfs",	"cifs", "smb",	  "fuse", "lustre",  "ceph",
		"gpfs", "9p",	"beegfs", "afs",  "gluster", "virtiofs"
	};

	for (size_t i = 0; fs && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(fs, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * "3.2 MB per batch, read at 80.1 MB/s where 302.5 MB/s would keep up; 84 % of it from the disk".
 */
static const char *bytes_words(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;
	base_unit each, now, needed, miss;
	const char *rate = "", *disk = "";

	if (v->batch_bytes <= 0 || view_loader_by_socket(s))
		return "";
	if (v->needed_bytes_per_s > 0)
		rate = base_arena_printf(&s->mem, ", read at %s/s where %s/s would keep up",
					 base_bytes(now, (uint64_t)v->read_bytes_per_s),
					 base_bytes(needed, (uint64_t)v->needed_bytes_per_s));
	if (v->disk_ppm >= 0)
		disk = base_arena_printf(&s->mem, "; %s %% of it was not in the page cache",
					 base_percent(miss, v->disk_ppm));
	return base_arena_printf(&s->mem, "; %s per batch%s%s",
				 base_bytes(each, (uint64_t)v->batch_bytes), rate, disk);
}

static bool small_samples(const struct ana_loader_facts *l)
{
	return l && l->made_samples && l->rchar_bytes &&
	       l->rchar_bytes / l->made_samples < SMALL_SAMPLE_BYTES;
}

/* "socket:127.0.0.1:38211", "socket:[::1]:80": no data is nearer. */
static bool is_loopback(const char *target)
{
	const char *at = target && !strncmp(target, "socket:", 7) ? target + 7 : target;

	return at && (!strncmp(at, "127.", 4) || !strncmp(at, "[::1]", 5) ||
		      !strncmp(at, "::1", 3) || !strncmp(at, "localhost", 9));
}

static void fetch_action(struct view_summary *s, struct view_advice *a,
			 const struct view_finding *f)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	uint8_t wait = f ? f->where.wait : WIRE_WAIT_READ;

	if (wait == WIRE_WAIT_SOCKET) {
		bool here = f && is_loopback(f->where.target);

		a->title = "Fetch more at a time";
		a->brief = here ? "larger requests, or several at once"
				: "larger requests, or a local cache";
		a->action =
			here ? "fetch larger pieces per request and several at once; the server runs "
			       "on this machine: see what it waits for"
			     : "fetch larger pieces per request and several at once, or cache them "
			       "on a local disk";
	} else if (wait == WIRE_WAIT_SLEEP) {
		a->title = "See what the data set waits for";
		a->brief = "a look at what the data set waits for";
		a->action =
			base_arena_printf(&s->mem, "making a batch sleeps%s: remove the pause%s",
					  view_advice_line(s, a->class),
					  view_advice_workers_serialised(s)
						  ? ""
						  : ", or hide it behind more workers");
	} else if (wait == WIRE_WAIT_FAULT) {
		a->brief = "a local cache, or reading ahead";
		a->action = "the mapped file is not in memory: copy it to a local disk, read it "
			    "ahead (MADV_WILLNEED), or read in the order it is stored";
	} else if (small_samples(l)) {
		base_unit bytes;
		a->brief = "larger files, or a local cache";
		a->action = base_arena_printf(
			&s->mem,
			"samples of %s each are read one by one: pack them into large files "
			"(tar shards, Arrow, a memory-mapped array), or cache them on a local "
			"disk",
			base_bytes(bytes, l->rchar_bytes / l->made_samples));
	} else if (is_network(f ? f->where.fs : NULL) || s->loader.disk_ppm >= MISS_PPM) {
		a->action = "cache the data set on a local disk or in memory, or store it in a "
			    "compressed format that is smaller to read";
	}
}

bool view_advise_fetch(struct view_summary *s, struct view_advice *a)
{
	fetch_action(s, a, view_finding_of(s, a->class));
	a->why = base_arena_printf(&s->mem, "%s%s", a->why, bytes_words(s));
	return true;
}

static bool locked(const struct view_finding *f)
{
	return f && (f->where.wait == WIRE_WAIT_LOCK_SHARED || f->where.wait == WIRE_WAIT_LOCK ||
		     f->where.wait == WIRE_WAIT_GIL);
}

/* "batches take 40.1 ms, one in twenty over 212 ms: "; "" where they are alike. */
static const char *jitter(struct view_summary *s, const struct ana_loader_facts *l)
{
	base_unit median, p95;

	if (l->fetch_median_ns <= 0 || l->fetch_p95_ns < JITTER(l->fetch_median_ns))
		return "";
	return base_arena_printf(&s->mem, "a batch takes %s, one in twenty over %s: ",
				 base_duration(median, l->fetch_median_ns),
				 base_duration(p95, l->fetch_p95_ns));
}

bool view_advise_pipeline(struct view_summary *s, struct view_advice *a)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	if (locked(view_finding_of(s, a->class))) {
		a->id = "worker-lock";
		a->title = "Stop workers from waiting for each other";
		a->brief = "no lock between workers";
		a->action = base_arena_printf(&s->mem,
					      "workers wait for each other%s: give each one its "
					      "own file handle or cache, or hold the lock shorter",
					      view_advice_line(s, a->class));
		return true;
	}
	if (!l || !(l->known & ANA_LOADER_WORKERS))
		return true;
	/*
	 * Nothing is in flight without workers; and those who always make batches have no time for
	 * more.
	 */
	if (!l->workers || s->loader.busy_ppm >= VIEW_BUSY_PPM || view_advice_without_workers(s))
		return false;
	/* What one worker makes comes in order. */
	bool ordered = (!(l->known & ANA_LOADER_IN_ORDER) || l->in_order) && l->workers > 1;
	const char *any =
		ordered ? ", or take batches as they come (in_order=False, PyTorch 2.6)" : "";
	if (!(l->known & ANA_LOADER_PREFETCH)) {
		a->action =
			base_arena_printf(&s->mem, "%sraise prefetch_factor%s", jitter(s, l), any);
		return true;
	}
	uint32_t more = l->prefetch < 2 ? 4 : l->prefetch * 2;
	a->brief = base_arena_printf(&s->mem, "prefetch_factor %" PRIu32 " -> %" PRIu32 "%s",
				     l->prefetch, more, ordered ? " or in_order=False" : "");
	a->action =
		base_arena_printf(&s->mem, "%sset prefetch_factor=%" PRIu32 " (now %" PRIu32 ")%s",
				  jitter(s, l), more, l->prefetch, any);
	return true;
}
