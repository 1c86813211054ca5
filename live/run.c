/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What streams say becomes a model: processes, the GPUs they use, sums of each.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "numbers.h"
#include "wire/keyed_hash.h"
#include "wire/life.h"

#define STEP_ROOM_NS (60 * LIVE_SECOND_NS) /* a pulse may come so much late */
#define LIFE_MAX_NS (366 * 86400 * LIVE_SECOND_NS) /* of a process before its first pulse */
#define NAMELESS_PULSES 10
/* of PulseMeter: its shares are hundredths of a percent, these are bits of `known` */
#define METER_WHOLE 10000u
#define METER_BUSY 1u
#define METER_TENSOR 8u
#define METER_DRAM 16u

void live_run_init(struct live_run *r)
{
	*r = (struct live_run){ .nano_usd_per_hour = -1 };
}

static void stream_free(struct live_stream *s)
{
	live_saved_fini(NULL, s);
	for (size_t i = 0; i < s->devices; i++)
		free(s->device[i].busy_at);
	free(s->device);
	free(s);
}

void live_run_fini(struct live_run *r)
{
	for (size_t i = 0; i < r->streams; i++)
		stream_free(r->stream[i]);
	live_saved_fini(r, NULL);
	live_index_fini(&r->stream_index);
	live_index_fini(&r->gpu_index);
	free(r->stream);
	free(r->gpu);
	live_run_init(r);
}

static uint64_t hash_of(const void *bytes, size_t len)
{
	struct wire_secret secret = wire_secret();

	return wire_keyed_hash(bytes, len, &secret);
}

struct live_stream *live_run_stream(const struct live_run *r, const uint8_t *id)
{
	uint64_t hash = hash_of(id, WIRE_STREAM_ID_BYTES);
	uint32_t i;

	for (size_t at = 0; live_index_next(&r->stream_index, hash, &at, &i);)
		if (!memcmp(r->stream[i]->id, id, WIRE_STREAM_ID_BYTES))
			return r->stream[i];
	return NULL;
}

/* The array with room for one more of @size bytes; NULL: no memory, it is as before. */
static void *grown(void *array, size_t *room, size_t used, size_t size)
{
	size_t want = *room ? 2 * *room : 8;
	void *more;

	if (used < *room)
		return array;
	more = realloc(array, want * size);
	if (more)
		*room = want;
	return more;
}

static struct live_stream *stream_new(struct live_run *r, const uint8_t *id)
{
	struct live_stream **more =
		grown(r->stream, &r->stream_room, r->streams, sizeof(struct live_stream *));
	struct live_stream *s;

	if (!more)
		return NULL;
	r->stream = more;
	s = calloc(1, sizeof(*s));
	if (!s || live_index_add(&r->stream_index, hash_of(id, WIRE_STREAM_ID_BYTES),
				 (uint32_t)r->streams)) {
		free(s);
		return NULL;
	}
	memcpy(s->id, id, sizeof(s->id));
	r->stream[r->streams++] = s;
	return s;
}

static int stream_of(struct live_run *r, const uint8_t *id, struct live_stream **out)
{
	struct live_stream *s = live_run_stream(r, id);

	if (!s && r->streams == LIVE_STREAMS_MAX) {
		r->refused++;
		return -ENOSPC;
	}
	*out = s ? s : stream_new(r, id);
	return *out ? 0 : -ENOMEM;
}

static void copy(char *out, size_t room, const char *text)
{
	size_t len = strnlen(text ? text : "", room - 1);

	memcpy(out, text ? text : "", len);
	out[len] = '\0';
}

static void take_device(struct live_device *d, const Wire__Device *m)
{
	static const uint8_t none[16];

	copy(d->name, sizeof(d->name), m->name);
	copy(d->pci, sizeof(d->pci), m->pci_bus_id);
	d->has_uuid = m->uuid.len == sizeof(d->uuid) && memcmp(m->uuid.data, none, sizeof(none));
	if (d->has_uuid)
		memcpy(d->uuid, m->uuid.data, sizeof(d->uuid));
	d->mig_slices = m->mig_slices;
	d->mig_slices_total = m->mig_slices_total;
}

/* Devices up to number @count. */
static int want_devices(struct live_stream *s, size_t count)
{
	struct live_device *more;

	if (count <= s->devices)
		return 0;
	more = realloc(s->device, count * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + s->devices, 0, (count - s->devices) * sizeof(*more));
	s->device = more;
	s->devices = count;
	return 0;
}

int live_run_hello(struct live_run *r, const uint8_t *id, uint64_t seq, const Wire__Hello *m)
{
	struct live_stream *s;
	int err = stream_of(r, id, &s);

	if (err || (s->has_hello && seq <= s->seq))
		return err;
	s->has_hello = true;
	s->seq = seq > s->seq ? seq : s->seq;
	copy(s->host, sizeof(s->host), m->host);
	s->pid = m->pid;
	s->rank = m->rank;
	s->has_rank = m->has_rank;
	s->start_unix_ns = wire_life_begin(m);
	for (size_t i = 0; i < m->n_devices && !err; i++) {
		uint32_t ordinal = m->devices[i]->ordinal;
		if (ordinal >= LIVE_DEVICES_MAX)
			continue;
		err = want_devices(s, ordinal + 1);
		if (!err && !s->device[ordinal].used)
			take_device(&s->device[ordinal], m->devices[i]);
	}
	return err;
}

static void put_uuid(char out[40], const uint8_t *u)
{
	snprintf(out, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}

/* One GPU has one key, whoever speaks of it; without a UUID it is the process's own. */
static void make_key(struct live_gpu *g, const struct live_stream *s, const struct live_device *d)
{
	char id[40];

	put_uuid(id, d->has_uuid ? d->uuid : s->id);
	if (d->has_uuid) {
		memcpy(g->uuid, id, sizeof(id));
		memcpy(g->key, id, sizeof(id));
	} else if (d->pci[0]) {
		snprintf(g->key, sizeof(g->key), "%.63s/%.23s", s->host, d->pci);
	} else {
		snprintf(g->key, sizeof(g->key), "%s/%u", id, g->ordinal);
	}
}

static int gpu_of(struct live_run *r, const struct live_stream *s, uint32_t ordinal, size_t *out)
{
	struct live_device *d = &s->device[ordinal];
	struct live_gpu g = { .ordinal = ordinal,
			      .mig_slices = d->mig_slices,
			      .mig_slices_total = d->mig_slices_total,
			      .nano_usd_per_hour = r->nano_usd_per_hour };
	struct live_gpu *more;
	uint64_t hash;
	uint32_t i;

	make_key(&g, s, d);
	hash = hash_of(g.key, strlen(g.key));
	for (size_t at = 0; live_index_next(&r->gpu_index, hash, &at, &i);) {
		if (!strcmp(r->gpu[i].key, g.key)) {
			*out = i;
			return 0;
		}
	}
	if (r->gpus == LIVE_STREAMS_MAX)
		return -ENOSPC;
	more = grown(r->gpu, &r->gpu_room, r->gpus, sizeof(g));
	if (more)
		r->gpu = more;
	if (!more || live_index_add(&r->gpu_index, hash, (uint32_t)r->gpus))
		return -ENOMEM;
	copy(g.host, sizeof(g.host), s->host);
	copy(g.name, sizeof(g.name), d->name);
	g.covered_ns = INT64_MIN;
	*out = r->gpus;
	r->gpu[r->gpus++] = g;
	return 0;
}

/* The stream uses the device from now on. */
static int begin_use(struct live_run *r, struct live_stream *s, uint32_t ordinal)
{
	int err = want_devices(s, ordinal + 1);
	struct live_device *d;

	if (err)
		return err;
	d = &s->device[ordinal];
	/* Hello names devices a moment after the process began to use them. */
	if (d->used || (!d->has_uuid && !d->name[0] && s->pulses < NAMELESS_PULSES))
		return 0;
	d->busy_at = calloc(LIVE_POINTS, sizeof(*d->busy_at));
	if (!d->busy_at)
		return -ENOMEM;
	err = gpu_of(r, s, ordinal, &d->gpu);
	if (err) {
		free(d->busy_at);
		d->busy_at = NULL;
		return err;
	}
	d->used = true;
	return 0;
}

static bool kernels_unseen(const char *level)
{
	return !strcmp(level, "copies") || !strcmp(level, "off");
}

/*
 * The pulse's stamp on our axis. A clock that is set back, or forward by more than can have passed
 * since we heard of the process, is a step: it is taken out.
 */
static int64_t place(struct live_stream *s, int64_t t_ns, const struct live_when *when)
{
	int64_t t, most;

	t_ns = base_max(0, base_min(t_ns, LIVE_NUMBER_MAX));
	if (!s->pulses)
		return t_ns;
	t = t_ns + s->offset_ns;
	most = live_add(s->t_ns, base_max(0, when->now_ns - s->seen_ns) + STEP_ROOM_NS);
	if (t >= s->t_ns && (when->history || t <= most))
		return t;
	/* How long the interval was is not known: as long as it took to come, if that is known. */
	t = s->t_ns;
	if (!when->history)
		t = live_add(t, base_max(0, when->now_ns - s->seen_ns));
	s->offset_ns = t - t_ns;
	return t;
}

/* How long the process had lived when it made its first pulse. */
static int64_t life_before(const struct live_stream *s, int64_t made_ns)
{
	int64_t life = 0;

	if (s->start_unix_ns <= 0 || made_ns <= s->start_unix_ns)
		return 0;
	life = made_ns - s->start_unix_ns;
	return life > LIFE_MAX_NS ? 0 : life;
}

/*
 * What of [begin, end) no other process has held the GPU for yet counts for it; @pulse_ns of it at
 * most can be training, if it is the first of a device.
 */
static void hold(struct live_gpu *g, int64_t begin, int64_t end, int64_t busy, int64_t wait,
		 int64_t pulse_ns)
{
	int64_t whole = end - begin, fresh = end - base_max(begin, g->covered_ns);

	g->busy_ns = live_add(g->busy_ns, busy);
	if (fresh <= 0)
		return;
	wait = (int64_t)((__int128)wait * fresh / whole);
	g->covered_ns = end;
	g->held_ns = live_add(g->held_ns, fresh);
	g->wait_ns = live_add(g->wait_ns, wait);
	if (!g->busy_ns)
		return;
	g->training_ns = live_add(g->training_ns, base_min(fresh, pulse_ns));
	g->training_wait_ns = live_add(g->training_wait_ns, base_min(wait, pulse_ns));
}

/* A sum that went on; one that went back begins anew. */
static int64_t step_of(int64_t *sum, int64_t now)
{
	int64_t by = now > *sum ? now - *sum : 0;

	*sum = now;
	return by;
}

static int64_t share_of_meter(const Wire__PulseMeter *m, uint32_t bit, uint32_t share)
{
	return m->known & bit && share <= METER_WHOLE ? (int64_t)share * (1000000 / METER_WHOLE)
						      : -1;
}

static void take_meter(struct live_gpu *g, int64_t t_ns, const Wire__PulseMeter *m)
{
	int64_t end = t_ns - (int64_t)base_min(m->age_us, UINT32_MAX) * 1000;

	if (end <= g->metered_ns)
		return;
	g->metered_ns = end;
	g->meter = (struct live_meter){ share_of_meter(m, METER_BUSY, m->busy),
					share_of_meter(m, METER_TENSOR, m->tensor),
					share_of_meter(m, METER_DRAM, m->dram) };
}

/*
 * Pulses begin about a second after the first operation; what a process lived before is start-up.
 * One that was busy for longer was at work before we heard of it: all of its life may be training.
 */
static void take_busy(struct live_run *r, struct live_stream *s, const Wire__Pulse *m,
		      int64_t begin, int64_t wait)
{
	int64_t life = s->t_ns - begin; /* the process's, if this is the first pulse of it */

	for (size_t i = 0; i < m->n_devices; i++) {
		uint32_t ordinal = m->devices[i]->ordinal;
		if (ordinal >= s->devices || !s->device[ordinal].used)
			continue;
		struct live_device *d = &s->device[ordinal];
		bool first = !d->active_ns;
		int64_t busy = step_of(&d->busy_ns, live_count(m->devices[i]->busy_ns));
		if (busy || m->devices[i]->ops != d->ops || first || s->unseen)
			d->active_ns = s->t_ns;
		d->ops = m->devices[i]->ops;
		if (m->devices[i]->meter)
			take_meter(&r->gpu[d->gpu], s->t_ns, m->devices[i]->meter);
		/* A device that comes later was held since the process began. */
		hold(&r->gpu[d->gpu], first ? s->first_ns : begin, s->t_ns, busy, wait,
		     s->pulses || busy > LIVE_SECOND_NS ? life : base_min(life, LIVE_SECOND_NS));
	}
}

static void keep_point(struct live_stream *s)
{
	size_t n = s->pulses % LIVE_POINTS;

	s->at[n] = (struct live_point){ s->t_ns, s->wait_ns, s->launches };
	for (size_t i = 0; i < s->devices; i++)
		if (s->device[i].used)
			s->device[i].busy_at[n] = s->device[i].busy_ns;
	s->pulses++;
}

static int64_t seen_at(int64_t made_ns, const struct live_when *when)
{
	if (!when->history)
		return when->now_ns;
	if (when->aged)
		return when->now_ns - when->age_ns;
	return when->now_ns -
	       base_max(0, base_min(when->wall_ns - base_max(made_ns, 0), LIVE_NUMBER_MAX));
}

int live_run_pulse(struct live_run *r, const uint8_t *id, uint64_t seq, int64_t made_ns,
		   const Wire__Pulse *m, const struct live_when *when)
{
	struct live_stream *s;
	int err = stream_of(r, id, &s);

	if (err || (s->seq && seq <= s->seq) || s->ended)
		return err;
	s->seq = seq;
	copy(s->level, sizeof(s->level), m->level);
	s->unseen = kernels_unseen(s->level);
	for (size_t i = 0; i < m->n_devices && !err; i++)
		if (m->devices[i]->ordinal < LIVE_DEVICES_MAX)
			err = begin_use(r, s, m->devices[i]->ordinal);
	int64_t begin = s->t_ns, t = place(s, m->t_ns, when);
	if (!s->pulses)
		s->first_ns = begin = t - life_before(s, made_ns);
	s->t_ns = t;
	if (m->saves_told)
		live_saved_count(s, m->saves_told - 1, m->saves_told - 1, t);
	else if (when->thinned)
		live_saved_miss(s, t);
	s->complete_ns =
		base_min(base_max(0, base_min(m->complete_ns, LIVE_NUMBER_MAX)) + s->offset_ns, t);
	s->launches = m->launches;
	s->dropped = m->dropped + m->frames_dropped;
	s->own_cpu_ns = m->own_cpu_ns;
	s->events = m->events;
	int64_t wait = step_of(&s->wait_ns, live_count(m->loader_wait_ns));
	take_busy(r, s, m, begin, wait);
	s->seen_ns = seen_at(made_ns, when);
	keep_point(s);
	return err;
}

int live_run_bye(struct live_run *r, const uint8_t *id, uint64_t seq, int64_t made_ns,
		 const Wire__Bye *m, const struct live_when *when)
{
	struct live_stream *s = live_run_stream(r, id);
	int err = 0;

	if (!s || s->ended || seq <= s->seq)
		return 0;
	if (m->last)
		err = live_run_pulse(r, id, seq, made_ns, m->last, when);
	s->seq = seq;
	s->ended = true;
	return err;
}
