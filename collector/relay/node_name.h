/* SPDX-License-Identifier: Apache-2.0 */
/* This node's name among others: its host name, and a piece of the boot id, for names repeat. */
#ifndef COLL_NODE_NAME_H
#define COLL_NODE_NAME_H

#define COLL_NODE_BYTES 96

/* Letters, digits, `-` and `.` only, so that it can be part of a file's name. */
void coll_node_name(char out[COLL_NODE_BYTES]);

#endif
