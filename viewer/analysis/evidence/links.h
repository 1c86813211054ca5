/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What samples tell of who waits for whom (wire/evidence.h, links), read once per string of a
 * stream. Texts are borrowed from the string table. One thread.
 */
#ifndef ANALYSIS_LINKS_H
#define ANALYSIS_LINKS_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/ids.h"
#include "modules.h"
#include "wire/evidence.h"
#include "wire/strtab.h"

enum ana_link_kind {
	ANA_LINK_AWAITS, /* ?ID */
	ANA_LINK_GIVES, /* !ID, >ID */
	ANA_LINK_HOLDS, /* ~ID */
};

struct ana_link {
	struct ana_text id;
	uint64_t hash; /* of the id */
	uint8_t kind; /* enum ana_link_kind */
	bool sends; /* >ID: it is blocked giving to it */
};

struct ana_links { /* in the order of the words */
	struct ana_link link[WIRE_LINKS_MAX];
	uint8_t count;
	struct ana_text name; /* =NAME, as it stands there; empty: none */
	uint32_t awaited; /* bit 0: some ?ID that begins with 'a', and so on to 'z' */
	bool awaits; /* some ?ID */
	/*
	 * the caller's: it awaits an answer at a socket, which no object that others merely hold
	 * gives
	 */
	bool reads;
	bool hands; /* some !ID or ~ID */
};

struct ana_linktexts {
	const struct wire_strtab *table; /* borrowed */
	struct ana_ids of;
	struct ana_links **links;
	uint32_t count, room;
	struct ana_links none;
};

void ana_linktexts_init(struct ana_linktexts *l, const struct wire_strtab *table);
void ana_linktexts_fini(struct ana_linktexts *l);

/* The links with this string id, valid until fini; of id 0 or without memory: none. */
const struct ana_links *ana_linktexts_get(struct ana_linktexts *l, uint32_t id);

/* The same of a text. Pure; borrows. Words that are no links are skipped. */
void ana_links_read(struct ana_links *out, const char *text, uint32_t len);

/* Whether both speak of the same thing, whatever they say of it. */
bool ana_link_same(const struct ana_link *a, const struct ana_link *b);

/* Whether it is of a connection of which both ends are known: 't' or 'u'. */
bool ana_link_is_connection(const struct ana_link *k);

/* Whether some word awaits the id. */
bool ana_links_await(const struct ana_links *l, const struct ana_link *id);

/*
 * How these links hand what @who awaits: GIVES, else HOLDS; AWAITS: not at all. One that awaits the
 * same id itself is none who hands it, nor is one that merely holds an object for which @who reads
 * a socket.
 */
enum ana_link_kind ana_links_hand(const struct ana_links *l, const struct ana_links *who);

/* Whether both await some one thing. */
bool ana_links_share(const struct ana_links *a, const struct ana_links *b);

/*
 * Whether these await a connection that @who awaits, and a socket beside it that @who does not: the
 * other end, which looks out for more than @who's next word.
 */
bool ana_links_meet(const struct ana_links *l, const struct ana_links *who);

/* Whether these await a listening socket at whose port the TCP connection has an end. */
bool ana_links_admit(const struct ana_links *l, const struct ana_link *connection);

/* Whether what these are blocked giving to is what @who awaits. */
bool ana_links_deliver(const struct ana_links *l, const struct ana_links *who);

/* Those of the awaited ids that are sockets at which nobody listens; false: there are none. */
bool ana_links_sockets(const struct ana_links *l, struct ana_links *out);

/* Whether some awaited id is of this kind: 'o', 'p', 'l' ... (wire/evidence.h). */
bool ana_links_await_kind(const struct ana_links *l, char kind);

#endif
