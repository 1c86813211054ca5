/* SPDX-License-Identifier: Apache-2.0 */
/* The data block of a page that lies on a disk, for verify. Every byte of it is untrusted. */
#ifndef VIEW_DATA_READ_H
#define VIEW_DATA_READ_H

#include <stddef.h>
#include "analysis/ledger.h"

enum view_block_state {
	VIEW_BLOCK_NO_PAGE,
	VIEW_BLOCK_NONE, /* the page has no block */
	/* not what any version wrote: its checksum is wrong, or there are two */
	VIEW_BLOCK_DAMAGED,
	VIEW_BLOCK_FOREIGN, /* another version's */
	VIEW_BLOCK_BARE, /* made from a summary alone, without series */
	VIEW_BLOCK_READY, /* may be compared with what the trace gives */
};

struct view_data_block {
	enum view_block_state state;
	enum ana_window window;
	char version[32]; /* of FOREIGN, printable; "": it does not say */
	char *page; /* owned */
	const char *text; /* the document, within the page */
	size_t len;
};

/* 0 or negative errno; a page that is not there is VIEW_BLOCK_NO_PAGE. */
int view_block_read(struct view_data_block *b, const char *path);
void view_block_fini(struct view_data_block *b);

#endif
