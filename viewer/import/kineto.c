/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kineto and Chrome JSON files: reads the text in one pass, the long middle of the event list in
 * pieces by several threads.
 *
 * The reader of the whole file gets what stands before the first piece and behind the last. Both
 * cuts lie behind the comma between two rows of the list, so it stands at the same place before
 * and after the pieces. When a piece does not read well, a cut was wrong or the file is damaged:
 * from that piece on the reader of the whole file gets everything, and finds out.
 */
#include "import.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "kineto_json.h"
#include "pieces.h"

#define PIECE_BYTES (1u << 20)
#define PIECE_BYTES_MAX (16u << 20) /* no cut within so many: no more pieces */
#define THREADS_MAX 8u

struct kineto {
	struct view_import_job *job;
	struct view_import_trace *t;
	struct view_import_json *json; /* the reader of the whole file */
	struct view_import_pieces *pieces; /* NULL: none yet, or no more */
	struct view_import_piece *filling;
	unsigned int threads; /* 0: no pieces */
	size_t piece_bytes, try_at; /* the piece in filling is cut from so many bytes on */
	uint64_t offset; /* in the file, of what comes next */
};

static unsigned int processors(void)
{
	cpu_set_t set;
	unsigned int n =
		sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);

	return n < 2 ? 0 : n < THREADS_MAX ? n : THREADS_MAX;
}

static int fail_parse(struct kineto *k, int err, uint64_t offset)
{
	unsigned long long at = offset + view_import_json_consumed(k->json);

	switch (err) {
	case -ELOOP:
		return view_import_fail(k->job, -EBADMSG,
					"nested deeper than %u levels at byte %llu; it is not a "
					"trace",
					VIEW_IMPORT_DEPTH_MAX, at);
	case -EBADMSG:
		return view_import_fail(
			k->job, err, "not JSON at byte %llu; export or copy the trace again", at);
	default:
		return view_import_fail(k->job, err, "%s", view_import_strerror(err));
	}
}

static int feed(struct kineto *k, const uint8_t *text, size_t len, uint64_t offset)
{
	int err = view_import_json_feed(k->json, text, len);

	return err ? fail_parse(k, err, offset) : 0;
}

/* --- cuts --- */

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Steps back over blanks and one @c; NULL if something else stands there. */
static const uint8_t *back_over(const uint8_t *text, const uint8_t *p, uint8_t c)
{
	while (p > text && is_space(p[-1]))
		p--;
	return p > text && p[-1] == c ? p - 1 : NULL;
}

/* How many bytes end with the last comma that stands between two objects; 0: none. */
static size_t last_cut(const uint8_t *text, size_t len)
{
	const uint8_t *p = text + len, *comma;

	while ((p = memrchr(text, '{', (size_t)(p - text)))) {
		comma = back_over(text, p, ',');
		if (comma && back_over(text, comma, '}'))
			return (size_t)(comma - text) + 1;
	}
	return 0;
}

/* --- pieces --- */

/*
 * Everything that the pieces still hold goes to the reader of the whole file, and so will the rest.
 */
static int give_up_pieces(struct kineto *k)
{
	struct view_import_piece *c;
	int err = 0;

	while (!err && (c = view_import_pieces_take_back(k->pieces)))
		err = feed(k, c->text, c->len, c->offset);
	view_import_pieces_free(k->pieces);
	k->pieces = NULL;
	k->threads = 0;
	return err;
}

/* 0: one was collected, or there was none (*any tells), or the pieces were given up. */
static int collect(struct kineto *k, bool *any)
{
	int got = view_import_pieces_collect(k->pieces, k->t);

	*any = got > 0;
	if (got == -EBADMSG)
		return give_up_pieces(k);
	if (got < 0)
		return view_import_fail(k->job, got, "%s", view_import_strerror(got));
	return 0;
}

/* Appends to the piece in filling. */
static int append(struct kineto *k, const uint8_t *text, size_t len, uint64_t offset)
{
	struct view_import_piece *c = k->filling;
	uint8_t *more;

	if (!c->len)
		c->offset = offset;
	if (c->room - c->len < len) {
		size_t room = c->len + len + k->piece_bytes / 2;

		more = realloc(c->text, room);
		if (!more)
			return view_import_fail(k->job, -ENOMEM, "out of memory");
		c->text = more;
		c->room = room;
	}
	memcpy(c->text + c->len, text, len);
	c->len += len;
	return 0;
}

/* Begins the next piece with @text; waits for a free one if need be. */
static int begin_piece(struct kineto *k, const uint8_t *text, size_t len, uint64_t offset)
{
	bool any;
	int err;

	while (!(k->filling = view_import_pieces_next(k->pieces))) {
		err = collect(k, &any);
		if (err)
			return err;
		if (!k->pieces)
			return feed(k, text, len, offset);
	}
	k->filling->len = 0;
	k->try_at = k->piece_bytes;
	return append(k, text, len, offset);
}

/* Cuts the piece in filling where its last row ends, if it is large enough. */
static int cut_piece(struct kineto *k)
{
	struct view_import_piece *c = k->filling;
	uint8_t *rest;
	size_t cut, len;
	int err;

	if (c->len < k->try_at)
		return 0;
	cut = last_cut(c->text, c->len);
	if (!cut) {
		k->try_at *= 2;
		return k->try_at > PIECE_BYTES_MAX ? give_up_pieces(k) : 0;
	}
	len = c->len - cut;
	rest = malloc(len + 1);
	if (!rest)
		return view_import_fail(k->job, -ENOMEM, "out of memory");
	memcpy(rest, c->text + cut, len);
	c->len = cut;
	view_import_pieces_submit(k->pieces);
	err = begin_piece(k, rest, len, c->offset + cut);
	free(rest);
	return err;
}

/* The first piece may begin behind a comma at which the reader of the whole file is in the list. */
static int start_pieces(struct kineto *k, const uint8_t *text, size_t len)
{
	size_t cut = k->threads ? last_cut(text, len) : 0;
	int err = feed(k, text, cut ? cut : len, k->offset);

	if (err || !cut)
		return err;
	if (view_import_json_between_rows(k->json))
		k->pieces = view_import_pieces_new(k->threads);
	if (!k->pieces)
		return feed(k, text + cut, len - cut, k->offset + cut);
	return begin_piece(k, text + cut, len - cut, k->offset + cut);
}

static int take_slice(struct kineto *k, const uint8_t *text, size_t len)
{
	int err;

	if (!k->pieces) {
		err = start_pieces(k, text, len);
	} else {
		err = append(k, text, len, k->offset);
		if (!err)
			err = cut_piece(k);
	}
	k->offset += len;
	return err;
}

/* No more than a piece at a time, so that a cut is found in each. */
static int take(struct kineto *k, const uint8_t *text, size_t len)
{
	size_t slice;
	int err = 0;

	for (; !err && len; text += slice, len -= slice) {
		slice = len < k->piece_bytes ? len : k->piece_bytes;
		err = take_slice(k, text, slice);
	}
	return err;
}

/* --- the file --- */

/* What is left of the pieces, then the tail of the file. */
static int finish(struct kineto *k)
{
	bool any = true;
	int err = 0;

	while (!err && k->pieces && any)
		err = collect(k, &any);
	if (!err && k->pieces)
		err = feed(k, k->filling->text, k->filling->len, k->filling->offset);
	if (err)
		return err;
	if (view_import_json_end(k->json))
		return view_import_fail(
			k->job, -EBADMSG,
			"the JSON ends early, at byte %llu; export or copy it again",
			(unsigned long long)k->offset);
	return 0;
}

static int read_all(struct kineto *k, struct view_import_input *in)
{
	static const uint8_t mark[3] = { 0xef, 0xbb, 0xbf }; /* UTF-8's byte order mark */
	const uint8_t *data = NULL;
	const char *why = "";
	size_t len = 0;
	int got, err;

	while ((got = view_import_input_read(in, &data, &len, false, &why)) > 0) {
		if (!k->offset && len >= 3 && !memcmp(data, mark, 3)) {
			data += 3;
			len -= 3;
			k->offset = 3;
		}
		err = take(k, data, len);
		if (!err)
			err = view_import_progress(k->job, view_import_input_done(in), k->t->rows);
		if (err)
			return err;
	}
	return got < 0 ? view_import_fail(k->job, got, "%s", why) : finish(k);
}

int view_import_kineto(struct view_import_job *job, struct view_import_input *in,
		       struct view_import_trace *t)
{
	const struct view_import_options *o = job->options;
	struct kineto k = { .job = job, .t = t };
	int err;

	k.threads = o && o->threads ? o->threads - 1 : processors();
	k.piece_bytes = o && o->piece_bytes ? o->piece_bytes : PIECE_BYTES;
	t->kind = "kineto";
	k.json = view_import_json_new(t, false);
	err = k.json ? read_all(&k, in) : view_import_fail(job, -ENOMEM, "out of memory");
	view_import_pieces_free(k.pieces);
	view_import_json_free(k.json);
	return err;
}
