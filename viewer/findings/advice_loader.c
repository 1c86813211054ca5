/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on the loader, with the arithmetic shown and what contradicts it left out. */
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
#define STARVED_PPM 400000 /* of starved time or of making a batch: without a CPU */
#define BUSY_PPM 850000 /* of the workers' time: they do nothing else */
#define LOCKED_PPM 50000 /* of the starved time: workers wait for each other */
#define JITTER(median) ((median) * 3 / 2) /* a 95th percentile from here on: batches differ */

/* Somebody was making the batch, or may have been: what more workers share. */
static const enum ana_class making[] = { ANA_INPUT_UNKNOWN, ANA_INPUT_FETCH, ANA_INPUT_PREP };
#define MAKING (sizeof(making) / sizeof(making[0]))

static int64_t making_ns(const struct view_summary *s)
{
	int64_t ns = 0;

	for (size_t i = 0; i < MAKING; i++)
		ns += view_advice_ns(s, making[i]);
	return ns;
}

/* What a loader that keeps up would have spared. */
static int64_t sparable_ns(const struct view_summary *s)
{
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		ns += ana_class_wants_workers(c) ? view_advice_ns(s, (enum ana_class)c) : 0;
	return ns;
}

/* Workers that want a CPU and get none would be more of the same; rows tell it exactly. */
static bool workers_starved(const struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	return base_ppm(view_advice_ns(s, ANA_INPUT_CPU_STARVED), s->starved_ns) >= STARVED_PPM ||
	       (l && base_ppm(l->fetch_delay_ns, l->fetch_ns) >= STARVED_PPM);
}

/* They have nothing to do for much of the time: not workers are missing, but work for them. */
static bool workers_idle(const struct view_summary *s)
{
	return view_advice_ns(s, ANA_INPUT_PIPELINE) >= making_ns(s) &&
	       s->loader.busy_ppm < BUSY_PPM;
}

/* Do workers wait for each other? Then more of them wait longer. */
static bool workers_serialised(const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	int64_t ns = 0;

	for (size_t i = 0; i < r->hotspots; i++) {
		const struct ana_hotspot *hotspot = &r->hotspot[i];
		if (hotspot->class == ANA_INPUT_PIPELINE && hotspot->role == WIRE_ROLE_WORKER &&
		    (hotspot->wait == WIRE_WAIT_LOCK_SHARED || hotspot->wait == WIRE_WAIT_LOCK))
			ns += hotspot->ns;
	}
	return base_ppm(ns, s->starved_ns) >= LOCKED_PPM;
}

/* The first worker takes the making out of the step, whatever it is slowed down by. */
static bool more_workers_help(const struct view_summary *s)
{
	const struct view_loader *v = &s->loader;

	return v->has_need && v->need.advised > v->facts.workers &&
	       v->need.predicted_step_ns < v->facts.step_ns &&
	       (!v->facts.workers ||
		(!workers_starved(s) && !workers_idle(s) && !workers_serialised(s)));
}

static enum ana_class largest_of_making(const struct view_summary *s)
{
	enum ana_class best = making[0];

	for (size_t i = 1; i < MAKING; i++)
		if (view_advice_ns(s, making[i]) > view_advice_ns(s, best))
			best = making[i];
	return best;
}

/* The arithmetic in words. */
static const char *need_why(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;
	const struct view_worker_facts *f = &v->facts;
	int64_t fed = f->step_ns - f->wait_ns;
	int64_t pace = f->fed_median_ns > 0 && f->fed_median_ns < fed ? f->fed_median_ns : fed;
	base_unit fetch, step, now, then;

	base_duration(fetch, f->fetch_ns);
	base_duration(step, pace);
	const char *bound = v->need.bound == VIEW_WORKERS_STEP
				    ? ""
				    : base_arena_printf(&s->mem, ", but %s %" PRId64,
							v->need.bound == VIEW_WORKERS_CORES
								? "the cores here support only"
								: "a sensible limit is",
							v->need.advised);
	return base_arena_printf(
		&s->mem,
		"%s takes %s for a batch, and a step without its wait takes %s: %s / %s = %" PRId64
		" worker%s keep%s up%s (now %" PRId64
		"). A step takes %s now, and would take at least %s",
		f->workers ? "a worker" : "the main process", fetch, step, fetch, step,
		v->need.needed, v->need.needed == 1 ? "" : "s", v->need.needed == 1 ? "s" : "",
		bound, f->workers, base_duration(now, f->step_ns),
		base_duration(then, v->need.predicted_step_ns));
}

/* Is it files or a network that workers are blocked on? */
static bool cache_helps(const struct view_summary *s, enum ana_class c)
{
	const struct view_finding *f = view_finding_of(s, c);

	return c == ANA_INPUT_FETCH && (!f || f->where.wait != WIRE_WAIT_SLEEP);
}

/* One source for all workers may be what is slow: its share per worker then falls. */
static const char *if_storage_serves(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;
	base_unit rate;

	if (v->needed_bytes_per_s <= 0)
		return ", if the storage serves them as fast";
	return base_arena_printf(&s->mem, ", if the storage serves them %s/s",
				 base_bytes(rate, (uint64_t)v->batch_bytes * 1000000000u /
							  (uint64_t)v->need.predicted_step_ns));
}

bool view_advise_workers(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	enum ana_class c = largest_of_making(s);
	int64_t most = sparable_ns(s);

	if (!more_workers_help(s))
		return false;
	a->id = "workers";
	a->title = v->facts.workers ? "More loader workers" : "Load in worker processes";
	a->class = c;
	a->with_need = true;
	a->why = need_why(s);
	a->action = base_arena_printf(&s->mem, "set num_workers=%" PRId64 "%s%s", v->need.advised,
				      v->facts.workers ? "" : " and persistent_workers=True",
				      cache_helps(s, c) ? if_storage_serves(s) : "");
	a->brief =
		base_arena_printf(&s->mem, "%" PRId64 " -> %" PRId64 " workers%s", v->facts.workers,
				  v->need.advised, cache_helps(s, c) ? " or a local cache" : "");
	a->saving_ns = v->saving_ns < most ? v->saving_ns : most;
	/* One source for all may give no more to many than to one. */
	a->saving_least_ns = cache_helps(s, c) ? 0 : base_min(v->saving_least_ns, a->saving_ns);
	if (s->starved_ns)
		a->saving_nano_usd =
			base_div_even((__int128)s->cost.starved * a->saving_ns, s->starved_ns);
	return true;
}

/* The general advice names workers too: only where nothing better is known. */
bool view_advise_unknown(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	base_unit fetch, step;

	if (more_workers_help(s))
		return false;
	if (!v->has_need || v->need.needed > v->facts.workers)
		return !workers_starved(s) && !workers_serialised(s);
	a->brief = "a larger prefetch_factor";
	a->action = base_arena_printf(
		&s->mem,
		"%" PRId64 " workers are enough on average (%s per batch and worker, a step each "
		"%s): raise prefetch_factor to bridge slow batches",
		v->facts.workers, base_duration(fetch, v->facts.fetch_ns),
		base_duration(step, v->facts.step_ns));
	return true;
}

/*
 * What is sure of workers that survive: all but the first of each trainer start for nothing, if the first batch
 * of each epoch, which they make anew, takes as long as the slow ones do.
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
	base_unit each;

	if (!l)
		return true;
	bool persistent = l->known & ANA_LOADER_PERSISTENT && l->persistent;
	bool no_workers = l->known & ANA_LOADER_WORKERS && !l->workers;
	if (l->iterators > 1 && !persistent && !no_workers) {
		a->action = base_arena_printf(
			&s->mem,
			"set persistent_workers=True: %" PRIu64 " iterators were made, each took "
			"%s to start; workers then survive the epoch",
			l->iterators,
			base_duration(each, base_div_even(l->open_ns, (__int128)l->iterators)));
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

/* "3.2 MB per batch, read at 80.1 MB/s where 302.5 MB/s are needed; 84 % of it from the disk". */
static const char *bytes_words(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;
	base_unit each, now, needed, miss;
	const char *rate = "", *disk = "";

	if (v->batch_bytes <= 0)
		return "";
	if (v->needed_bytes_per_s > 0)
		rate = base_arena_printf(&s->mem, ", read at %s/s where %s/s are needed",
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

static void fetch_action(struct view_summary *s, struct view_advice *a,
			 const struct view_finding *f)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	uint8_t wait = f ? f->where.wait : WIRE_WAIT_READ;

	if (wait == WIRE_WAIT_SOCKET) {
		a->brief = "larger requests, or a local cache";
		a->action = "fetch larger pieces per request and several at once, or cache them "
			    "on a local disk";
	} else if (wait == WIRE_WAIT_SLEEP) {
		a->title = "See what the data set waits for";
		a->brief = "a look at what the data set waits for";
		a->action = base_arena_printf(
			&s->mem, "making a batch sleeps%s: remove the pause%s",
			view_advice_line(s, a->class),
			workers_serialised(s) ? "" : ", or hide it behind more workers");
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

bool view_advise_prep(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;

	if (!v->has_need || v->need.bound != VIEW_WORKERS_CORES ||
	    v->need.advised > v->facts.workers || v->need.cores_needed <= v->facts.cores ||
	    view_worker_count_is_beyond(&v->facts, &v->need))
		return true;
	/* More workers would want the cores that these have. */
	a->brief = base_arena_printf(&s->mem,
				     "%" PRId64 " -> %" PRId64 " cores, or decoding on the GPU",
				     v->facts.cores, v->need.cores_needed);
	a->action =
		base_arena_printf(&s->mem,
				  "%s; or ask for %" PRId64 " cores (now %" PRId64
				  ") and set num_workers=%" PRId64
				  ": the cores here support no more workers",
				  a->action, v->need.cores_needed, v->facts.cores, v->need.needed);
	return true;
}

/* Without a loader, and the trainer is the one that wants the CPU. */
static bool makes_itself(const struct view_summary *s)
{
	const struct view_finding *f = view_finding_of(s, ANA_INPUT_CPU_STARVED);

	return !s->loader.has_need && f && f->where.role == WIRE_ROLE_SUBMITTER &&
	       f->where.chains < 2;
}

/* Makers that no loader counts: a CPU for each that was seen to want one, and one for the trainer. */
static void advise_maker_cpu(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, ANA_INPUT_CPU_STARVED);
	int64_t cpus = s->result->cpus, makers = f ? f->where.threads : 0;

	a->title = "Give the makers of batches CPUs";
	if (!cpus || !makers) {
		a->brief = "more CPUs for the makers of batches";
		a->action =
			"ask for more CPU cores or a larger cgroup quota, or let each maker of batches "
			"use fewer threads";
		return;
	}
	if (makers < cpus) {
		a->brief = "CPUs that nothing else uses, or OMP_NUM_THREADS=1 for each maker";
		a->action = base_arena_printf(
			&s->mem,
			"the job may use %" PRId64 " CPUs, enough for %" PRId64
			" that make batches, but something else runs there: keep it off them, or let "
			"each use one thread (OMP_NUM_THREADS=1)",
			cpus, makers);
		return;
	}
	a->brief = base_arena_printf(&s->mem,
				     "%" PRId64 " -> %" PRId64
				     " CPUs, or OMP_NUM_THREADS=1 for each maker",
				     cpus, makers + 1);
	a->action = base_arena_printf(
		&s->mem,
		"the job may use %" PRId64 " CPU%s (affinity and cgroup quota), and %" PRId64
		" make%s batches: ask for %" PRId64
		", one for each and one for the main process, or let each use one thread "
		"(OMP_NUM_THREADS=1)",
		cpus, cpus == 1 ? "" : "s", makers, makers == 1 ? "s" : "", makers + 1);
}

bool view_advise_worker_cpu(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	int64_t fewer = v->facts.cores - 1;

	if ((v->has_need && !v->facts.workers) || makes_itself(s)) {
		a->title = v->has_need ? "Give the main process a CPU to load with"
				       : "Give the main process a CPU";
		a->brief = "more cores, or fewer threads beside the main process";
		a->action = "the main process makes each batch itself and gets too little CPU for "
			    "it: ask for more CPU cores or a larger cgroup quota, or lower the "
			    "threads beside it";
		return true;
	}
	if (!view_loader_facts(s)) {
		advise_maker_cpu(s, a);
		return true;
	}
	if (!v->has_need || v->facts.cores <= 0 || v->need.cores_needed <= v->facts.cores)
		return true;
	const char *lower =
		v->facts.workers > fewer && fewer > 0
			? base_arena_printf(&s->mem, ", or lower num_workers to %" PRId64, fewer)
			: "";
	if (view_worker_count_is_beyond(&v->facts, &v->need)) {
		a->brief = "cheaper samples, then a core for each worker";
		a->action = base_arena_printf(
			&s->mem,
			"%" PRId64 " worker%s and the trainer share %" PRId64
			" core%s, and %" PRId64
			" would be needed to keep up: make samples cheaper first (decode ahead of time, at lower "
			"resolution, or on the GPU), then give each worker a core%s",
			v->facts.workers, v->facts.workers == 1 ? "" : "s", v->facts.cores,
			v->facts.cores == 1 ? "" : "s", v->need.cores_needed, lower);
		return true;
	}
	a->brief = base_arena_printf(&s->mem,
				     "%" PRId64 " -> %" PRId64
				     " cores, and OMP_NUM_THREADS=1 for each worker",
				     v->facts.cores, v->need.cores_needed);
	a->action = base_arena_printf(
		&s->mem,
		"%" PRId64 " worker%s and the main process share %" PRId64
		" core%s: ask for %" PRId64
		" or a larger cgroup quota%s, with one thread per worker (OMP_NUM_THREADS=1)",
		v->facts.workers, v->facts.workers == 1 ? "" : "s", v->facts.cores,
		v->facts.cores == 1 ? "" : "s", v->need.cores_needed, lower);
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
	if (!l->workers)
		return false; /* nothing is in flight without workers */
	bool ordered = !(l->known & ANA_LOADER_IN_ORDER) || l->in_order;
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

bool view_advise_handoff(struct view_summary *s, struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);
	const struct ana_loader_facts *l = view_loader_facts(s);

	if (f && f->where.role == WIRE_ROLE_PIN)
		a->action = "the pin thread is the bottleneck: send few large tensors instead of "
			    "many small ones, and smaller types (uint8 until the GPU)";
	else if (l && l->known & ANA_LOADER_PIN && l->pin)
		a->action = "send few large tensors instead of many small objects, and smaller "
			    "types (uint8 until the GPU)";
	return true;
}
