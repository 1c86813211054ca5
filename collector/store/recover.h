/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a stream's file from its beginning: which frames it holds, where the last whole one ends,
 * who the process was. Fills the stream's seqs, size, who and index. Bounded memory.
 */
#ifndef COLL_RECOVER_H
#define COLL_RECOVER_H

#include "store.h"

/* 0 or -errno; the file is only read. Tells st->recovered of what it finds. */
int coll_recover(const struct coll_store *st, struct coll_stream *s);

#endif
