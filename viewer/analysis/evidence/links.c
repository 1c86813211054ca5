/* SPDX-License-Identifier: Apache-2.0 */
#include "links.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/vec.h"

static bool read_word(struct ana_link *out, const char *at, uint32_t len)
{
	if (len < 3)
		return false;
	switch (*at) {
	case '?':
		out->kind = ANA_LINK_AWAITS;
		break;
	case '!':
	case '>':
		out->kind = ANA_LINK_GIVES;
		break;
	case '~':
		out->kind = ANA_LINK_HOLDS;
		break;
	default:
		return false;
	}
	out->sends = *at == '>';
	out->id = (struct ana_text){ at + 1, len - 1 };
	out->hash = base_hash(BASE_HASH, at + 1, len - 1);
	return true;
}

static uint32_t bit_of(char kind)
{
	return kind >= 'a' && kind <= 'z' ? UINT32_C(1) << (kind - 'a') : 0;
}

static void add_awaited(struct ana_links *out, const struct ana_link *l)
{
	if (l->kind != ANA_LINK_AWAITS)
		return;
	out->awaits = true;
	out->awaited |= bit_of(*l->id.at);
}

void ana_links_read(struct ana_links *out, const char *text, uint32_t len)
{
	const char *end = text + len;

	*out = (struct ana_links){ 0 };
	while (text < end && out->count < WIRE_LINKS_MAX) {
		const char *stop = memchr(text, ' ', (size_t)(end - text));
		struct ana_link *l = &out->link[out->count];

		if (!stop)
			stop = end;
		if (*text == '=')
			out->name = (struct ana_text){ text + 1, (uint32_t)(stop - text - 1) };
		if (read_word(l, text, (uint32_t)(stop - text))) {
			add_awaited(out, l);
			out->hands |= l->kind != ANA_LINK_AWAITS;
			out->count++;
		}
		text = stop < end ? stop + 1 : end;
	}
}

void ana_linktexts_init(struct ana_linktexts *l, const struct wire_strtab *table)
{
	*l = (struct ana_linktexts){ .table = table };
}

void ana_linktexts_fini(struct ana_linktexts *l)
{
	uint32_t i;

	for (i = 0; i < l->count; i++)
		free(l->links[i]);
	free(l->links);
	ana_ids_fini(&l->of);
	*l = (struct ana_linktexts){ 0 };
}

static struct ana_links *new_links(struct ana_linktexts *l, uint32_t id)
{
	struct ana_links *k;

	if (!base_vec_more(l->links, l->count, l->room))
		return NULL;
	k = malloc(sizeof(*k));
	if (!k || ana_ids_put(&l->of, id, l->count)) {
		free(k);
		return NULL;
	}
	l->links[l->count++] = k;
	return k;
}

const struct ana_links *ana_linktexts_get(struct ana_linktexts *l, uint32_t id)
{
	uint32_t i = ana_ids_get(&l->of, id);
	struct ana_links *k;
	const char *text;
	size_t len;

	if (i != ANA_IDS_NONE)
		return l->links[i - 1];
	if (!id || id > wire_strtab_count(l->table))
		return &l->none;
	k = new_links(l, id);
	if (!k)
		return &l->none;
	text = wire_strtab_get(l->table, id, &len);
	ana_links_read(k, text, (uint32_t)len);
	return k;
}

bool ana_link_same(const struct ana_link *a, const struct ana_link *b)
{
	return a->hash == b->hash && ana_text_same(a->id, b->id);
}

bool ana_link_is_connection(const struct ana_link *k)
{
	return *k->id.at == 't' || *k->id.at == 'u';
}

bool ana_links_await(const struct ana_links *l, const struct ana_link *id)
{
	uint8_t i;

	for (i = 0; i < l->count; i++)
		if (l->link[i].kind == ANA_LINK_AWAITS && ana_link_same(&l->link[i], id))
			return true;
	return false;
}

bool ana_links_share(const struct ana_links *a, const struct ana_links *b)
{
	uint8_t i;

	for (i = 0; i < a->count; i++)
		if (a->link[i].kind == ANA_LINK_AWAITS && ana_links_await(b, &a->link[i]))
			return true;
	return false;
}

enum ana_link_kind ana_links_hand(const struct ana_links *l, const struct ana_links *who)
{
	enum ana_link_kind best = ANA_LINK_AWAITS;
	uint8_t i;

	for (i = 0; l->hands && i < l->count; i++) {
		const struct ana_link *k = &l->link[i];

		if (k->kind == ANA_LINK_AWAITS || !ana_links_await(who, k) || ana_links_await(l, k))
			continue;
		if (k->kind == ANA_LINK_GIVES)
			return ANA_LINK_GIVES;
		if (!who->reads || *k->id.at != 'o')
			best = ANA_LINK_HOLDS;
	}
	return best;
}

bool ana_links_meet(const struct ana_links *l, const struct ana_links *who)
{
	bool meets = false, more = false;
	uint8_t i;

	for (i = 0; i < l->count; i++) {
		const struct ana_link *k = &l->link[i];

		if (k->kind != ANA_LINK_AWAITS || !strchr("lstu", *k->id.at))
			continue;
		if (!ana_links_await(who, k))
			more = true;
		else if (ana_link_is_connection(k))
			meets = true;
	}
	return meets && more;
}

/* ":80" of "10.0.0.1:80"; empty: it has none. */
static struct ana_text port_of(struct ana_text address)
{
	const char *colon = memrchr(address.at, ':', address.len);

	if (!colon)
		return (struct ana_text){ address.at, 0 };
	return (struct ana_text){ colon, (uint32_t)(address.at + address.len - colon) };
}

bool ana_links_admit(const struct ana_links *l, const struct ana_link *connection)
{
	const struct ana_text id = connection->id;
	const char *minus = *id.at == 't' ? memchr(id.at, '-', id.len) : NULL;
	struct ana_text one, other, port;
	uint8_t i;

	if (!minus || !ana_links_await_kind(l, 'l'))
		return false;
	one = port_of((struct ana_text){ id.at, (uint32_t)(minus - id.at) });
	other = port_of((struct ana_text){ minus + 1, (uint32_t)(id.at + id.len - minus - 1) });
	for (i = 0; i < l->count; i++) {
		if (l->link[i].kind != ANA_LINK_AWAITS || *l->link[i].id.at != 'l')
			continue;
		port = port_of(l->link[i].id);
		if (port.len && (ana_text_same(port, one) || ana_text_same(port, other)))
			return true;
	}
	return false;
}

bool ana_links_deliver(const struct ana_links *l, const struct ana_links *who)
{
	uint8_t i;

	for (i = 0; i < l->count; i++)
		if (l->link[i].sends && ana_links_await(who, &l->link[i]))
			return true;
	return false;
}

bool ana_links_sockets(const struct ana_links *l, struct ana_links *out)
{
	uint8_t i;

	*out = (struct ana_links){ .awaits = true };
	for (i = 0; i < l->count; i++)
		if (l->link[i].kind == ANA_LINK_AWAITS && strchr("stu", *l->link[i].id.at)) {
			add_awaited(out, &l->link[i]);
			out->link[out->count++] = l->link[i];
		}
	return out->count;
}

bool ana_links_await_kind(const struct ana_links *l, char kind)
{
	return l->awaited & bit_of(kind);
}
