/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What asker and asked agree on where a centre puts each body somewhere as a whole, so that few
 * long ones are better than many short ones (gateway/): its answers say `Gpustarve-Gather: BYTES
 * SECONDS`, and who sends to it waits until so much of a stream is there to be sent, or so long
 * since it last sent some; then all goes, in bodies of as many bytes.
 */
#ifndef COLL_GATHER_H
#define COLL_GATHER_H

#define COLL_GATHER_HEADER "Gpustarve-Gather"
#define COLL_GATHER_BYTES (32u << 20) /* nobody sends longer ones, whatever he is asked */
#define COLL_GATHER_MAX_S 600

#endif
