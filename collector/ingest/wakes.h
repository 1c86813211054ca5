/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wakes the server's loop besides who speaks to it: signals, a timer each second
 * (coll_server_tick), and the end of --until-eof. One thread.
 */
#ifndef COLL_WAKES_H
#define COLL_WAKES_H

struct coll_server;

/*
 * TERM and INT set terminate, HUP sets reload, USR1 logs the counters; from now on they are blocked
 * but for this loop. 0 or -errno, which is logged.
 */
int coll_wakes_open(struct coll_server *sv);
void coll_wakes_close(struct coll_server *sv);

#endif
