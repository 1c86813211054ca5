/* SPDX-License-Identifier: Apache-2.0 */
#include "native.h"

#include <string.h>
#include <unistd.h>
#include "trace/symbols.h"

/* A path of another machine may be anything here, a dead network disk included. */
static bool of_this_host(const struct view_summary *s)
{
	char name[256] = "";

	return !s->result->imported && s->hosts == 1 && !gethostname(name, sizeof(name) - 1) &&
	       !strcmp(s->host[0], name);
}

void view_native_add(struct view_summary *s)
{
	struct view_symbols *symbols = of_this_host(s) ? view_symbols_new() : NULL;

	for (size_t i = 0; symbols && i < s->findings; i++) {
		struct view_hotspot *p = &s->finding[i].where;
		if (p->native)
			p->symbol = base_arena_text(&s->mem,
						    view_symbol_of_frame(symbols, p->native,
									 strcspn(p->native, "\n")));
	}
	view_symbols_free(symbols);
}

void view_native_keep(struct view_summary *s, const struct view_summary *stored)
{
	for (size_t i = 0; i < s->findings && i < stored->findings; i++) {
		struct view_hotspot *p = &s->finding[i].where;
		const struct view_hotspot *old = &stored->finding[i].where;
		if (p->native && old->native && !strcmp(p->native, old->native) &&
		    !(p->symbol && old->symbol))
			p->symbol = old->symbol;
	}
}
