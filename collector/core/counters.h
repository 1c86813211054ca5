/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector counts, and those counts as text. Everything refused, cut or dropped has a
 * counter here. One thread.
 */
#ifndef COLL_COUNTERS_H
#define COLL_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* X(name, what it counts) */
#define COLL_COUNTERS(X)                                                                 \
	X(clients, "connections accepted")                                               \
	X(clients_refused, "connections refused: wrong user or too many")                \
	X(clients_stalled, "connections closed: nothing or half a frame for too long")   \
	X(streams, "streams opened")                                                     \
	X(streams_resumed, "streams continued from disk")                                \
	X(frames, "frames stored")                                                       \
	X(bytes, "bytes stored")                                                         \
	X(duplicates, "frames dropped because they were stored before")                  \
	X(bad_frames, "frames refused: damaged")                                         \
	X(bad_streams, "frames refused: no Hello came first, or a bad one")              \
	X(cut_bytes, "bytes of half frames at a connection's end")                       \
	X(torn_bytes, "bytes of half frames cut off at the end of files")                \
	X(memory_refused, "connections closed: too many bytes of half frames")           \
	X(store_errors, "streams that could not be stored")                              \
	X(commits, "files synced")                                                       \
	X(acks, "acknowledgements sent")                                                 \
	X(ends, "ends of processes noted")                                               \
	X(up_requests, "requests that the upstream took")                                \
	X(up_failed, "requests to the upstream that failed")                             \
	X(up_bytes, "bytes of frames that the upstream took")                            \
	X(up_refused, "frames that the upstream refuses for good")                       \
	X(up_damaged, "damaged bytes left out of what is forwarded")                     \
	X(up_dropped, "frames dropped: too much waited to be forwarded")                 \
	X(up_behind, "files sent again: the upstream had less than it had acknowledged") \
	X(up_lost, "files that the upstream has lost and that are not here any more")    \
	X(up_removed, "runs removed because they were forwarded")                        \
	X(admission_reviews, "reviews of pods answered")                                 \
	X(admission_injected, "pods that were given the library")                        \
	X(admission_bad, "reviews that were none of a new pod")                          \
	X(files, "side files of runs stored")                                            \
	X(http_connections, "HTTP connections accepted")                                 \
	X(http_mute, "HTTP connections that ended without a request")                    \
	X(http_requests, "HTTP requests")                                                \
	X(http_refused, "HTTP requests refused: token, scope, size or sender")           \
	X(http_bad, "HTTP requests that make no sense here")                             \
	X(http_crowded, "HTTP connections closed: too many without a token from there")  \
	X(http_idlest, "HTTP connections closed: the idlest of the team with the most")  \
	X(http_slow, "HTTP connections closed: too slow")                                \
	X(http_failed, "HTTP requests that failed through our fault")                    \
	X(limit_streams, "streams refused: too many for a client, or in all")            \
	X(limit_runs, "streams refused: too many runs are open")                         \
	X(limit_size, "frames refused: the stream is too large")                         \
	X(limit_quota, "frames refused: the quota is used up")                           \
	X(limit_free, "frames refused: too little of the disk is free")                  \
	X(limit_rate, "times that a client had to wait: too many bytes a second")        \
	X(runs_removed, "runs removed: too old, or for a quota")                         \
	X(bytes_removed, "bytes of runs removed")                                        \
	X(runs_unbilled, "runs removed for a quota before their digest was made")        \
	X(digests, "digests of runs handed over")                                        \
	X(digest_rows, "provisional rows of runs handed over")                           \
	X(digest_failures, "digests of runs that failed, and are tried again")           \
	X(archived, "runs copied into the archive")                                      \
	X(archive_failures, "copies into the archive that failed, and are tried again")  \
	X(digests_parked, "digests of runs that failed too often, and are parked")       \
	X(work_scans, "looks for runs to analyse in an object store")                    \
	X(work_taken, "runs there that were taken up")                                   \
	X(work_digests, "runs there that were analysed")                                 \
	X(work_bytes, "bytes of them that were fetched")                                 \
	X(work_failures, "analyses of them that failed")                                 \
	X(work_dead, "runs there that were put aside")                                   \
	X(work_left, "runs taken over from workers that were not heard of any more")     \
	X(work_lost, "times that a lease of ours ran out while we were at it")           \
	X(work_troubles, "calls of the object store that failed to the end")             \
	X(gateway_segments, "segments in the object store, put or found there")          \
	X(gateway_there, "segments that were there already")                             \
	X(gateway_errors, "streams and files that the object store did not take")        \
	X(gateway_full, "requests told to come back: no room in memory")                 \
	X(pulse_rows, "rows of pulses that came for the store of runs that go on")       \
	X(pulse_dropped, "times that for want of room some of these were dropped")       \
	X(pulse_exchanges, "times that these were exchanged with the store")             \
	X(pulse_failures, "times that they could not be, and are tried again")           \
	X(budgets_told, "budgets of teams that this gateway told of")                    \
	X(budget_failures, "times that the store did not say what teams have spent")     \
	X(live_unwatched, "frames and rows of runs that found no room, or no sense")     \
	X(children_failed, "programs started by the collector that failed")              \
	X(reloads, "times that files of settings were read again")

#define COLL_COMMIT_BUCKETS 13 /* the last one holds what took longer than all bounds */
extern const int coll_commit_bound_us[COLL_COMMIT_BUCKETS - 1];

struct coll_counters {
#define COLL_COUNTER_FIELD(name, what) uint64_t name;
	COLL_COUNTERS(COLL_COUNTER_FIELD)
#undef COLL_COUNTER_FIELD
	uint64_t commit_bucket[COLL_COMMIT_BUCKETS]; /* commits by how long they took */
	uint64_t commit_ns; /* all of them */
};

void coll_counters_commit(struct coll_counters *c, int64_t ns);

/* Logs every counter that is not 0, and what is open now. */
void coll_counters_log(const struct coll_counters *c, size_t clients, size_t streams);

#endif
