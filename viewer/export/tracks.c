/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks by what they are of, and their lanes.
 */
#include "tracks.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

#define IDLE_LANES 4u /* what is later still goes on the last */

struct key {
	enum view_track_what what;
	uint32_t gpu; /* or 0 */
	uint32_t source; /* or 0 */
	uint32_t id; /* stream or thread */
};

struct view_track {
	struct key key;
	uint32_t parent; /* index, VIEW_TRACKS_NONE: none */
	uint64_t *uuid; /* per lane */
	uint32_t uuids;
	struct view_lanes lanes;
	int64_t idle_end[IDLE_LANES]; /* of the last piece on each lane */
};

#define NONE UINT32_MAX
#define MORE UINT32_MAX /* id of the track that the rest shares */

void view_tracks_init(struct view_tracks *t, struct view_export *x,
		      void (*tell)(void *arg, const struct view_track_facts *t), void *arg)
{
	*t = (struct view_tracks){ .x = x, .tell = tell, .arg = arg, .last = NONE };
}

void view_tracks_fini(struct view_tracks *t)
{
	uint32_t i;

	for (i = 0; i < t->tracks; i++) {
		view_lanes_fini(&t->track[i].lanes);
		free(t->track[i].uuid);
	}
	free(t->track);
	ana_map_fini(&t->of);
}

uint64_t view_tracks_uuid(struct view_tracks *t)
{
	/* Far from the small numbers that Perfetto may give itself. */
	return UINT64_C(0x6770750000000000) + ++t->next_uuid;
}

static bool same(const struct key *a, const struct key *b)
{
	return a->what == b->what && a->gpu == b->gpu && a->source == b->source && a->id == b->id;
}

/* Exact: 4 bits for what it is, 12 for the GPU, 14 for the process, 32 for stream or thread. */
static uint64_t packed(const struct key *k)
{
	return (uint64_t)k->what << 60 | (uint64_t)(k->gpu & 0xfff) << 48 |
	       (uint64_t)(k->source & 0x3fff) << 33 | k->id;
}

static void name_track(struct view_tracks *t, const struct key *k, struct view_track_facts *f,
		       char name[VIEW_TRACK_NAME])
{
	const struct view_export_source *s = &t->x->source[k->source];
	const Wire__Hello *h = s->s->hello;

	f->name = name;
	f->rank = (int32_t)k->what;
	switch (k->what) {
	case VIEW_TRACK_GPU:
		snprintf(name, VIEW_TRACK_NAME, "GPU %u: %.200s%s%.200s",
			 view_export_gpu_number(t->x, k->gpu),
			 t->x->summary->result->gpu[k->gpu].name,
			 t->x->summary->hosts > 1 ? " on " : "",
			 t->x->summary->hosts > 1 ? t->x->summary->result->gpu[k->gpu].host : "");
		f->rank = (int32_t)k->gpu;
		break;
	case VIEW_TRACK_IDLE:
		snprintf(name, VIEW_TRACK_NAME, "why it was idle");
		break;
	case VIEW_TRACK_STREAM:
	case VIEW_TRACK_WAITS:
		snprintf(name, VIEW_TRACK_NAME, "stream %d%s%s", (int32_t)k->id,
			 k->what == VIEW_TRACK_WAITS ? " waits" : "",
			 k->id == MORE ? " and more" : "");
		break;
	case VIEW_TRACK_PROCESS:
		if (h && h->has_rank)
			snprintf(name, VIEW_TRACK_NAME, "rank %d on %.200s", h->rank, h->host);
		else
			snprintf(name, VIEW_TRACK_NAME, "process on %.200s", h ? h->host : "");
		f->pid = s->pid;
		break;
	case VIEW_TRACK_THREAD:
		snprintf(name, VIEW_TRACK_NAME, "thread %u", k->id);
		f->pid = s->pid;
		f->tid = k->id;
		break;
	case VIEW_TRACK_RANGES:
		snprintf(name, VIEW_TRACK_NAME, "ranges of thread %u", k->id);
		break;
	case VIEW_TRACK_SAMPLES:
		snprintf(name, VIEW_TRACK_NAME, "samples of thread %u", k->id);
		break;
	case VIEW_TRACK_BATCHES:
		snprintf(name, VIEW_TRACK_NAME, "batches in thread %u", k->id);
		break;
	case VIEW_TRACK_LOADER:
		snprintf(name, VIEW_TRACK_NAME, "thread %u waits for the loader", k->id);
		break;
	default:
		snprintf(name, VIEW_TRACK_NAME, "calls of thread %u", k->id);
	}
}

static uint64_t parent_uuid(const struct view_tracks *t, const struct view_track *k)
{
	return k->parent == NONE ? 0 : t->track[k->parent].uuid[0];
}

/* A lane is a track of its own with the same name; the viewer draws them as one. */
static int add_lane(struct view_tracks *t, struct view_track *k)
{
	uint64_t *more = reallocarray(k->uuid, k->uuids + 1, sizeof(*more));
	struct view_track_facts f = { .what = k->key.what };
	char name[VIEW_TRACK_NAME];

	if (!more)
		return -ENOMEM;
	k->uuid = more;
	name_track(t, &k->key, &f, name);
	f.uuid = view_tracks_uuid(t);
	f.parent = parent_uuid(t, k);
	if (k->uuids && (f.what == VIEW_TRACK_THREAD || f.what == VIEW_TRACK_PROCESS)) {
		f.what = VIEW_TRACK_OTHER; /* only one track may describe the thread */
		f.parent = k->uuid[0];
	}
	k->uuid[k->uuids++] = f.uuid;
	t->tell(t->arg, &f);
	return 0;
}

static int parent_of(struct view_tracks *t, const struct key *k, uint32_t *parent);

static int make_track(struct view_tracks *t, const struct key *k, uint32_t *out)
{
	uint32_t parent, i;
	int err = parent_of(t, k, &parent);

	if (err)
		return err;
	i = t->tracks;
	if (!base_vec_more(t->track, i, t->room))
		return -ENOMEM;
	t->track[i] = (struct view_track){ .key = *k, .parent = parent };
	t->track[i].idle_end[0] = INT64_MIN;
	t->tracks++;
	err = add_lane(t, &t->track[i]);
	if (!err)
		err = ana_map_put(&t->of, packed(k), i);
	*out = i;
	return err;
}

static int find_track(struct view_tracks *t, const struct key *wanted, uint32_t *out)
{
	struct key k = *wanted;
	uint32_t i = t->last;

	if (i != NONE && same(&t->track[i].key, &k)) {
		*out = i;
		return 0;
	}
	i = ana_map_get(&t->of, packed(&k));
	if (i == ANA_MAP_NONE && t->tracks >= VIEW_TRACKS_MAX) {
		k.id = MORE;
		i = ana_map_get(&t->of, packed(&k));
	}
	if (i == ANA_MAP_NONE) {
		int err = make_track(t, &k, &i);

		if (err)
			return err;
	}
	*out = t->last = i;
	return 0;
}

static int parent_of(struct view_tracks *t, const struct key *k, uint32_t *parent)
{
	struct key up = *k;

	*parent = NONE;
	switch (k->what) {
	case VIEW_TRACK_IDLE:
	case VIEW_TRACK_STREAM:
	case VIEW_TRACK_WAITS:
		up = (struct key){ .what = VIEW_TRACK_GPU, .gpu = k->gpu };
		break;
	case VIEW_TRACK_THREAD:
	case VIEW_TRACK_SAMPLES:
	case VIEW_TRACK_BATCHES:
		up = (struct key){ .what = VIEW_TRACK_PROCESS, .source = k->source };
		break;
	case VIEW_TRACK_RANGES:
	case VIEW_TRACK_LOADER:
		up.what = VIEW_TRACK_THREAD;
		break;
	default:
		return 0;
	}
	return find_track(t, &up, parent);
}

int view_tracks_gpus(struct view_tracks *t)
{
	uint32_t i, track;
	int err = 0;

	for (i = 0; i < t->x->summary->result->gpus && !err; i++)
		err = find_track(t, &(struct key){ .what = VIEW_TRACK_GPU, .gpu = i }, &track);
	return err;
}

static int place(struct view_tracks *t, const struct key *k, int64_t start, int64_t end, bool nest,
		 uint64_t *uuid)
{
	struct view_track *found;
	uint32_t i;
	int lane, err = find_track(t, k, &i);

	if (err)
		return err;
	found = &t->track[i];
	lane = view_lanes_place(&found->lanes, start, end, nest);
	if (lane < 0)
		return lane;
	while (!err && found->uuids <= (uint32_t)lane)
		err = add_lane(t, found);
	if (!err)
		*uuid = found->uuid[lane];
	return err;
}

int view_track_stream(struct view_tracks *t, uint32_t gpu, size_t source,
		      const struct wire_event *e, uint64_t *uuid)
{
	struct key k = { .what = e->kind == WIRE_KIND_SYNC ? VIEW_TRACK_WAITS : VIEW_TRACK_STREAM,
			 .gpu = gpu,
			 .source = (uint32_t)source,
			 .id = e->stream };

	return place(t, &k, e->start_ns, e->end_ns, false, uuid);
}

int view_track_thread(struct view_tracks *t, size_t source, const struct wire_event *e,
		      enum view_track_what what, uint64_t *uuid)
{
	struct key k = { .what = what == VIEW_TRACK_CALLS ? VIEW_TRACK_THREAD : what,
			 .source = (uint32_t)source,
			 .id = e->tid };

	return place(t, &k, e->start_ns, e->end_ns, true, uuid);
}

int view_track_idle(struct view_tracks *t, const struct ana_piece *p, uint64_t *uuid)
{
	struct view_track *found;
	uint32_t i, lane = 0;
	int err = find_track(t, &(struct key){ .what = VIEW_TRACK_IDLE, .gpu = p->gpu }, &i);

	if (err)
		return err;
	found = &t->track[i];
	while (lane + 1 < IDLE_LANES && lane < found->uuids && p->start_ns < found->idle_end[lane])
		lane++;
	while (!err && found->uuids <= lane)
		err = add_lane(t, found);
	if (err)
		return err;
	found->idle_end[lane] = p->end_ns;
	*uuid = found->uuid[lane];
	return 0;
}

int view_track_sample(struct view_tracks *t, size_t source, const struct wire_sample *w,
		      uint64_t *uuid)
{
	struct key k = { .what = VIEW_TRACK_SAMPLES, .source = (uint32_t)source, .id = w->tid };
	uint32_t i;
	int err = find_track(t, &k, &i);

	if (!err)
		*uuid = t->track[i].uuid[0];
	return err;
}

int view_track_batch(struct view_tracks *t, size_t source, const struct wire_batch *b,
		     uint64_t *uuid)
{
	struct key k = { .what = VIEW_TRACK_BATCHES, .source = (uint32_t)source, .id = b->tid };

	return place(t, &k, b->start_ns, b->end_ns, true, uuid);
}
