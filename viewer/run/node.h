/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector of one run on this node: found if it runs already, else started in a session of
 * its own. It ends by itself: it holds the reading end of a pipe, and when the wrapper that
 * started it is gone and all of its clients are done, it flushes and exits.
 */
#ifndef VIEW_NODE_H
#define VIEW_NODE_H

#include <stdbool.h>
#include <sys/types.h>

struct view_node {
	char socket[108]; /* "": there is no collector; libprof then writes spool files */
	pid_t pid; /* of the collector that we started, 0: none or not ours */
	int leash; /* writing end of its pipe, -1: none */
	int words; /* memory that holds what it says on stderr, -1: none */
	off_t passed; /* bytes of it that have been passed on or skipped */
	const char *trouble; /* why there is none, static; NULL: fine, or there need not be one */
};

/*
 * @base: absolute folder of the run directories. @upstream: URL of a central collector that all of
 * it
 * is forwarded to, NULL: none; the environment says with which token and certificates.
 */
void view_node_start(struct view_node *n, const char *base, const char *run_id,
		     const char *upstream);

/*
 * Passes on what the collector has said since the last call. It does not get our stderr, which it
 * would hold open for whoever reads that to its end.
 */
void view_node_pass_on(struct view_node *n);

/* Whether there is anything to pass on; and leaving it out. */
bool view_node_spoke(const struct view_node *n);
void view_node_skip(struct view_node *n);

/*
 * Lets go of the collector and waits up to @seconds until it has stored everything and ended. True:
 * it has, or there is none of ours. May be called again to wait longer.
 */
bool view_node_finish(struct view_node *n, int seconds);

#endif
