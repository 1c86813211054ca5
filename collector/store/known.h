/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `.<stream>.known` beside a stream's file: which frames its durable beginning holds, so that a
 * collector that starts anew reads what came after and not the whole file. Nothing waits for it and
 * nothing fails with it: it is believed only where its sum is right and the frame that it says is
 * the last of that beginning stands there, whole; else the stream is read as ever. docs/FORMAT.md
 * has its bytes. One thread.
 */
#ifndef COLL_KNOWN_H
#define COLL_KNOWN_H

#include <stdbool.h>
#include "stream.h"

/* Notes what is to be written once what the stream holds now is durable, if it has grown enough. */
void coll_known_prepare(struct coll_stream *s);
/* It is, and so are its records of the index: writes that. */
void coll_known_save(struct coll_stream *s);

/*
 * The same before the stream is closed, however little it has grown. After its Bye it is removed
 * instead.
 */
void coll_known_close(struct coll_stream *s);

/*
 * Fills the stream from it: size, seqs, marks, bye and its index, which is open then. False:
 * nothing is known, and the stream is as it was. The file is open.
 */
bool coll_known_restore(struct coll_stream *s);

#endif
