/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pulses tell of a run while it goes on: how busy its GPUs are, how much of their time they
 * wait for input at most, what they cost, who went silent. Fed frame by frame (live/frame.h), asked
 * at any time. No I/O, no threads, no globals; the caller says what time it is.
 *
 * What a pulse cannot tell is not told. It has sums: busy time of each device, time in loader
 * waits of the process. So a wait counts only as far as the GPU was idle in the same window, which
 * is the most it can have been. Why the host did nothing stands in the report alone.
 *
 * Times are ns. Those of a stream are on its own clock, from which steps are taken out; "now" is
 * the caller's monotonic clock. Every number that comes in is hostile: sums stay where int64 ends.
 * One thread per run.
 */
#ifndef LIVE_RUN_H
#define LIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "checkpoints.h"
#include "index.h"
#include "wire/frame.h"
#include "wire/session.pb-c.h"

#define LIVE_SECOND_NS 1000000000LL
#define LIVE_WINDOW_NS (30 * LIVE_SECOND_NS) /* what "now" is an average over */
#define LIVE_POINTS 40 /* pulses that are kept for it, one a second */
#define LIVE_STREAMS_MAX 32768u /* and as many GPUs */
#define LIVE_DEVICES_MAX 16u /* of one process */
#define LIVE_SAVES_MAX 32u /* of one process that are kept; what is older counts for nothing */
#define LIVE_PATH_MAX 600u
#define LIVE_SILENT_NS (90 * LIVE_SECOND_NS) /* who says nothing for so long is not alive */

/*
 * What NVML said last of a GPU, whoever worked on it: millionths of a time of a second or so. -1:
 * not known.
 */
struct live_meter {
	int64_t busy_ppm, tensor_ppm, dram_ppm;
};

/* A GPU, whichever processes use it. Read only, but for the price. */
struct live_gpu {
	char key[96]; /* what makes it one: its UUID, else its place */
	char host[64], name[96]; /* as told, cut; not yet fit for a terminal */
	char uuid[40]; /* hexadecimal with dashes, "": not known */
	uint32_t ordinal; /* as the process that used it first numbers it */
	uint32_t mig_slices, mig_slices_total; /* 0: no MIG */
	/* Since the first process that uses it began; several processes count a moment once. */
	int64_t held_ns, busy_ns, wait_ns;
	/* Of held_ns and wait_ns, from the first operation on, by whole pulses: training time. */
	int64_t training_ns, training_wait_ns;
	int64_t covered_ns; /* held up to here, on the clock of its streams */
	struct live_meter meter;
	int64_t metered_ns; /* up to here, on that clock; 0: never */
	int64_t nano_usd_per_hour; /* the caller's to set; -1: not known */
};

enum live_gap { /* what the last interval between two pulses was, as far as pulses tell */
	LIVE_GAP_NONE, /* nothing to tell yet */
	LIVE_GAP_BUSY, /* no gap: busy for 95 % or more */
	LIVE_GAP_INPUT, /* idle, and for the most part in a loader wait */
	LIVE_GAP_HOST, /* idle, no loader wait, and nothing was launched */
	LIVE_GAP_UNKNOWN, /* idle, and pulses do not tell why */
	LIVE_GAP_UNSEEN, /* kernels are not recorded at present */
	LIVE_GAP_SILENT, /* no pulse for LIVE_SILENT_NS */
	LIVE_GAP_ENDED, /* it has said goodbye */
	LIVE_GAP_KILLED, /* it said none, and its end was seen */
	LIVE_GAPS
};
extern const char *const live_gap_names[LIVE_GAPS];

struct live_device { /* of a stream, by the process's number */
	char name[96], pci[24];
	uint8_t uuid[16];
	bool has_uuid, used;
	uint32_t mig_slices, mig_slices_total;
	size_t gpu; /* of the run, if used */
	int64_t busy_ns;
	uint64_t ops;
	int64_t active_ns; /* pulse that saw it work last */
	int64_t *busy_at; /* [LIVE_POINTS] */
};

struct live_kept { /* a save of a process */
	struct live_save save; /* its path is ours; process: not set */
	uint32_t number;
};

struct live_stream { /* a process; read only */
	uint8_t id[WIRE_STREAM_ID_BYTES];
	char host[64], level[16];
	int64_t pid;
	int32_t rank; /* with has_rank */
	bool has_rank, has_hello, ended, unseen;
	bool gone; /* it said no goodbye, and its end was seen: the caller's to set */
	int64_t start_unix_ns; /* of the process (wire/life.h), 0: not known */
	uint64_t seq; /* of the last frame taken */
	uint64_t pulses;
	int64_t seen_ns; /* the caller's clock at the last pulse */
	int64_t first_ns, t_ns, complete_ns, offset_ns; /* offset: stream's stamps to ours */
	int64_t wait_ns;
	uint64_t launches, dropped, own_cpu_ns, events;
	struct live_point {
		int64_t t_ns, wait_ns;
		uint64_t launches;
	} at[LIVE_POINTS]; /* pulse number n stands in n % LIVE_POINTS, from 0 */
	struct live_device *device;
	size_t devices;
	struct live_kept *kept; /* [LIVE_SAVES_MAX], by number */
	size_t kepts;
	uint32_t last_save; /* number of the last one that was told */
	struct live_written written; /* the last that was told */
	uint64_t told; /* the last that was told of its saves, counted by itself */
	bool blind; /* what was told of saves before blind_ns is not all known: see live_when */
	int64_t blind_ns;
};

struct live_run {
	struct live_stream **stream;
	size_t streams, stream_room;
	struct live_index stream_index, gpu_index; /* by id; by key */
	struct live_gpu *gpu;
	size_t gpus, gpu_room;
	int64_t nano_usd_per_hour; /* price of GPUs to come; -1: not known */
	struct live_saved *saved; /* NULL: nobody has told of a save */
	uint64_t memory_bytes; /* the most in use of one GPU's, by whomever; 0: not known */
	uint64_t refused; /* streams beyond LIVE_STREAMS_MAX */
};

/* Plain data, caller-owned. */
void live_run_init(struct live_run *r);
void live_run_fini(struct live_run *r);

/* When something was learnt. */
struct live_when {
	int64_t now_ns; /* monotonic */
	int64_t wall_ns; /* CLOCK_REALTIME */
	bool history; /* read from what lay there, not as it came: pulses may be far apart */
	bool thinned; /* ... and so may all else be: what saves were made is known by count alone */
	bool aged; /* ... and age_ns ago it was heard of, whatever its stamp says */
	int64_t age_ns;
};

/*
 * What a stream said. @made_ns: the frame's time_ns. Frames of a stream whose sequence number is
 * not above the last are passed over. 0, -ENOMEM, or -ENOSPC (too many streams; counted).
 */
int live_run_hello(struct live_run *r, const uint8_t *id, uint64_t seq, const Wire__Hello *m);
int live_run_pulse(struct live_run *r, const uint8_t *id, uint64_t seq, int64_t made_ns,
		   const Wire__Pulse *m, const struct live_when *when);
int live_run_bye(struct live_run *r, const uint8_t *id, uint64_t seq, int64_t made_ns,
		 const Wire__Bye *m, const struct live_when *when);

int live_run_facts(struct live_run *r, const uint8_t *id, uint64_t seq, const Wire__Facts *m);

/* NULL: not seen yet. */
struct live_stream *live_run_stream(const struct live_run *r, const uint8_t *id);

/* Shares of one window, in millionths. */
struct live_share {
	bool known; /* there were two pulses, and kernels are recorded */
	int64_t window_ns;
	int64_t busy_ppm, starved_ppm; /* starved: at most; the two sum to 1e6 at most */
};

/* It uses a GPU, has not ended, and was heard of within LIVE_SILENT_NS. */
bool live_stream_alive(const struct live_stream *s, int64_t now_ns);
bool live_stream_uses_gpu(const struct live_stream *s);

/* Over LIVE_WINDOW_NS, mean of the GPUs it uses. */
struct live_share live_stream_share(const struct live_stream *s);
enum live_gap live_stream_gap(const struct live_stream *s, int64_t now_ns);
/* How far what is known lies behind what happens; of a pulse, at least. */
int64_t live_stream_lag_ns(const struct live_stream *s);

/* Over LIVE_WINDOW_NS, of the processes that use it and are alive. Not known: there are none. */
struct live_share live_gpu_share(const struct live_run *r, size_t gpu, int64_t now_ns);
/* How long none of its processes worked on it; -1: none is alive. */
int64_t live_gpu_idle_ns(const struct live_run *r, size_t gpu, int64_t now_ns);

struct live_gpu_now { /* both of these */
	struct live_share share;
	int64_t idle_ns;
};
/*
 * Of all GPUs by one way through the processes: to ask each GPU for its own costs the product of
 * both. The caller's to free; NULL: no memory.
 */
struct live_gpu_now *live_run_gpus_now(const struct live_run *r, int64_t now_ns);
int64_t live_gpu_starved_ns(const struct live_gpu *g); /* so far, at most */

/*
 * What a kill would lose now: all that was held since @from_ns, the beginning of the newest
 * checkpoint that is there, or of the segment (LEDGER 9).
 */
struct live_unsaved {
	bool known; /* a process is alive, and all of its saves were told */
	bool saved; /* there is a checkpoint, ... */
	uint64_t saved_bytes; /* ... all of whose files hold states, of so many; 0: not known */
	enum live_small small; /* ... and it is a small one: ... */
	int64_t sure_ns; /* ... from_ns of those that are not; else from_ns */
	bool under_way; /* a save has begun, and it is not told what became of it */
	/* What was written since may be a checkpoint: less may be lost than since from_ns. */
	bool unsure;
	bool deleted; /* ... was one, and was deleted: a copy may be elsewhere */
	bool unmoved; /* ... is to be renamed to its place, and was not yet */
	uint64_t unsure_bytes; /* the last such; 0: not known */
	int64_t unsure_ns; /* when */
	int64_t from_ns;
};
struct live_unsaved live_run_unsaved(const struct live_run *r, int64_t now_ns);
/* Of a GPU's held time; -1: not known. */
int64_t live_gpu_unsaved_ns(const struct live_gpu *g, const struct live_unsaved *u);

/* One process's use of one GPU, as it is now: a row of a table. */
struct live_use {
	const struct live_stream *stream;
	uint32_t ordinal; /* as the process numbers its devices */
	size_t gpu; /* of the run */
	struct live_share share;
	struct live_meter meter; /* of the GPU, if that was read within LIVE_WINDOW_NS */
	enum live_gap gap; /* of the process */
	int64_t idle_ns, lag_ns;
	int64_t unsaved_ns; /* of the GPU; -1: not known */
};

/* How many there are; the first @room of them are filled in. */
size_t live_run_uses(const struct live_run *r, int64_t now_ns, struct live_use *out, size_t room);

struct live_totals {
	size_t gpus, alive; /* GPUs ever used; those that a living process uses */
	size_t streams; /* processes that use or used one */
	int64_t held_ns, busy_ns, starved_ns; /* so far, summed over GPUs */
	int64_t training_ns, training_starved_ns; /* of these, from each GPU's first operation on */
	struct live_share now; /* mean of the GPUs alive */
	bool priced; /* every GPU has a price, and there is one */
	int64_t nano_usd, starved_nano_usd; /* so far; 0 unless priced */
	int64_t nano_usd_per_hour, starved_nano_usd_per_hour; /* of those alive, at present */
	int64_t idle_ns; /* no GPU of those alive worked for so long; -1: none is alive */
	int64_t gpu_idle_ns; /* the one that has been idle longest; -1 */
	int64_t quiet_ns; /* longest silence of a process that has not said goodbye; -1: no such */
	int64_t lag_ns; /* the longest of those alive; -1 */
	int64_t unsaved_ns; /* that a kill now would lose, of all GPUs; -1: not known */
	int64_t unsaved_for_ns; /* since the beginning of the newest checkpoint; -1 */
	int64_t unsaved_nano_usd; /* 0 unless priced */
	bool serving; /* none of it is work: inference saves nothing; the caller's to set */
	bool saved, saving; /* there is a checkpoint; a save is under way */
	uint64_t saved_bytes; /* of that; 0: not known */
	enum live_small small; /* that is one; without it a kill now would lose ... */
	int64_t sure_ns, sure_for_ns, sure_nano_usd; /* ... so much; else what stands above */
	bool unsure; /* ... and of what was written since it is not known whether it is one: ... */
	bool deleted; /* ... it is one that was deleted, ... */
	bool unmoved; /* ... or one that is to be renamed, and was not, ... */
	uint64_t unsure_bytes; /* ... so many bytes, 0: not known, ... */
	int64_t unsure_for_ns; /* ... so long ago; -1: not known */
	uint64_t dropped, own_cpu_ns;
	int64_t life_ns; /* of the processes that the last two are of, summed */
	int64_t step_slower_ppm; /* for sure; 0: not known; the caller's to set: no pulse tells */
};
void live_run_totals(const struct live_run *r, int64_t now_ns, struct live_totals *t);
/* Shares of the training time so far, in millionths; they sum to 1e6 at most. */
int64_t live_totals_busy_ppm(const struct live_totals *t);
int64_t live_totals_starved_ppm(const struct live_totals *t);

#endif
