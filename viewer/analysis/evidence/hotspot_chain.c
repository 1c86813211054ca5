/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot_chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "percent.h"

#define TEXT_MAX 4096
#define NAME_MAX_BYTES 64

void ana_hotspot_chain_fini(struct ana_hotspot_chain *c)
{
	free(c->text);
	*c = (struct ana_hotspot_chain){ 0 };
}

/* ---- to text --------------------------------------------------------------------------------- */

/* "libc.so.6": the module of the innermost native frame that names one. */
static struct ana_text module_of(const struct ana_evidence *e, const struct wire_sample *w)
{
	struct ana_text t = ana_pystacks_text(&e->stacks, w->native);
	const char *slash;

	if (!t.len)
		return t;
	t.len = (uint32_t)strcspn(t.at, "\t\n");
	slash = memrchr(t.at, '/', t.len);
	if (slash) {
		t.len -= (uint32_t)(slash + 1 - t.at);
		t.at = slash + 1;
	}
	return t;
}

static void read_name(char out[NAME_MAX_BYTES], struct ana_text word)
{
	uint32_t i, n = 0;

	for (i = 0; i < word.len && n + 1 < NAME_MAX_BYTES; i++) {
		int coded = ana_percent(word.at + i, word.len - i);
		int c = coded >= 0 ? coded : word.at[i];

		i += coded >= 0 ? 2 : 0;
		out[n++] = (char)(c < ' ' && c >= 0 ? ' ' : c);
	}
	out[n] = 0;
}

/* @first: it is the one that waits; of those behind it one may submit, too. */
static int put_who(char *out, size_t room, struct ana_evidence *e, const struct wire_sample *w,
		   const struct ana_pystack *k, bool first)
{
	const char *kind = w->pid == e->pid ? "thread" : "process";
	struct ana_text name = k->outer.len ? k->outer : module_of(e, w);
	char called[NAME_MAX_BYTES];

	read_name(called, ana_linktexts_get(&e->links, w->links)->name);
	if (!name.len && *called)
		name = (struct ana_text){ called, (uint32_t)strlen(called) };

	switch (first || w->role != WIRE_ROLE_SUBMITTER ? w->role : WIRE_ROLE_PRODUCER) {
	case WIRE_ROLE_SUBMITTER:
		return snprintf(out, room, "the main process");
	case WIRE_ROLE_FEEDER:
		return snprintf(out, room, "the thread that feeds the main process");
	case WIRE_ROLE_WORKER:
		return snprintf(out, room, "a worker");
	case WIRE_ROLE_WORKER_OTHER:
		return snprintf(out, room, "a worker's thread");
	default:
		if (!name.len)
			return snprintf(out, room, "another %s", kind);
		return snprintf(out, room, "%s %.*s", kind, (int)name.len, name.at);
	}
}

static const char *waits_in(const struct wire_sample *w, const struct ana_pystack *k)
{
	if (k->waits_in)
		return k->waits_in;
	switch (w->wait) {
	case WIRE_WAIT_SOCKET:
		return "a socket";
	case WIRE_WAIT_PIPE:
		return "a pipe";
	case WIRE_WAIT_QUEUE:
		return "a queue between processes";
	case WIRE_WAIT_LOCK_SHARED:
		return "a lock shared between processes";
	case WIRE_WAIT_SLEEP:
		return ANA_CHAIN_NAP;
	default:
		return k->iterates ? "an iterator" : "native code";
	}
}

/* False: no room. */
static bool put_link(char *out, size_t room, size_t *len, struct ana_evidence *e,
		     const struct ana_chain_link *l, bool last)
{
	const struct wire_sample *w = &l->thread->sample[l->sample];
	const struct ana_pystack *k = ana_pystacks_get(&e->stacks, w->stack);
	int n = put_who(out + *len, room - *len, e, w, k, !*len);

	if (n < 0 || (size_t)n >= room - *len)
		return false;
	*len += (size_t)n;
	n = snprintf(out + *len, room - *len, "\t%s\t%.*s\t%.*s\t%u\n", last ? "" : waits_in(w, k),
		     (int)k->function.len, k->function.len ? k->function.at : "", (int)k->file.len,
		     k->file.len ? k->file.at : "", k->line);
	if (n < 0 || (size_t)n >= room - *len)
		return false;
	*len += (size_t)n;
	return true;
}

bool ana_hotspot_chain_tell(char *out, size_t room, struct ana_evidence *e,
			    const struct wire_sample *w)
{
	const struct ana_pystack k = *ana_pystacks_get(&e->stacks, w->stack);
	int n = put_who(out, room, e, w, &k, true), m;

	if (n < 0 || (size_t)n >= room)
		return false;
	m = snprintf(out + n, room - (size_t)n, "\t%.*s\t%.*s\t%u", (int)k.function.len,
		     k.function.len ? k.function.at : "", (int)k.file.len,
		     k.file.len ? k.file.at : "", k.line);
	return m >= 0 && (size_t)m < room - (size_t)n;
}

/*
 * ---- the one that has most of the time ----------------------------------------------------------
 */

static void count(struct ana_hotspot_chain *c, const struct ana_chain_path *path)
{
	uint8_t i;

	for (i = 0; i < path->links; i++) {
		c->link[i].samples += path->link[i].samples;
		if (path->link[i].confidence > c->link[i].confidence)
			c->link[i].confidence = path->link[i].confidence;
	}
}

/* Whether this text is, or becomes, the candidate. -ENOMEM. */
static int vote(struct ana_hotspot_chain *c, const char *text, int64_t ns)
{
	if (c->text && !strcmp(c->text, text)) {
		ana_sum(&c->lead, ns);
		return 1;
	}
	if (c->text && c->lead >= ns) {
		c->lead -= ns;
		return 0;
	}
	ns = c->text ? ns - c->lead : ns;
	ana_hotspot_chain_fini(c);
	c->lead = ns;
	c->text = strdup(text);
	return c->text ? 2 : -ENOMEM;
}

int ana_hotspot_chain_add(struct ana_hotspot_chain *c, struct ana_evidence *e,
			  const struct ana_chain_path *path, int64_t ns, bool again)
{
	char text[TEXT_MAX];
	size_t len = 0;
	uint8_t i;
	int is;

	for (i = 0; i < path->links; i++)
		if (!put_link(text, sizeof(text), &len, e, &path->link[i], i + 1 == path->links))
			return 0;
	is = vote(c, text, ns);
	if (is == 2 || (is == 1 && !again))
		count(c, path);
	return is < 0 ? is : 0;
}

int ana_hotspot_chain_none(struct ana_hotspot_chain *c, int64_t ns)
{
	int is = vote(c, "", ns);

	return is < 0 ? is : 0;
}

int ana_hotspot_chain_merge(struct ana_hotspot_chain *to, const struct ana_hotspot_chain *from,
			    int64_t ns)
{
	size_t i;
	int is;

	if (!from->text)
		return 0;
	is = vote(to, from->text, ns);
	for (i = 0; is > 0 && i < ANA_CHAIN_DEPTH + 1; i++) {
		to->link[i].samples += from->link[i].samples;
		if (from->link[i].confidence > to->link[i].confidence)
			to->link[i].confidence = from->link[i].confidence;
	}
	return is < 0 ? is : 0;
}

/* ---- to links -------------------------------------------------------------------------------- */

static char *field(const char **p, char stop)
{
	size_t n = strcspn(*p, (char[]){ stop, 0 });
	char *out = strndup(*p, n);

	*p += (*p)[n] ? n + 1 : n;
	return out;
}

static void empty_is_null(char **text)
{
	if (*text && !**text) {
		free(*text);
		*text = NULL;
	}
}

static int put_line(struct ana_hotspot_link *l, const char **p)
{
	char *line;

	l->who = field(p, '\t');
	l->waits_in = field(p, '\t');
	l->function = field(p, '\t');
	l->file = field(p, '\t');
	line = field(p, '\n');
	if (!l->who || !l->waits_in || !l->function || !l->file || !line) {
		free(line);
		return -ENOMEM;
	}
	l->line = (uint32_t)strtoul(line, NULL, 10);
	free(line);
	empty_is_null(&l->waits_in);
	empty_is_null(&l->function);
	empty_is_null(&l->file);
	return 0;
}

int ana_hotspot_chain_put(const struct ana_hotspot_chain *c, struct ana_hotspot *out)
{
	const char *p = c->text;
	int err = 0;

	if (!p || !*p)
		return 0;
	out->chain = calloc(ANA_CHAIN_DEPTH + 1, sizeof(*out->chain));
	if (!out->chain)
		return -ENOMEM;
	while (*p && !err && out->chains < ANA_CHAIN_DEPTH + 1) {
		struct ana_hotspot_link *l = &out->chain[out->chains];

		l->samples = c->link[out->chains].samples;
		l->confidence = (enum ana_confidence)c->link[out->chains].confidence;
		out->chains++;
		err = put_line(l, &p);
	}
	return err;
}
