/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of full recording while the governor keeps kernels off: where in its stratum of time each
 * one lies. Times are on the stream's clock. libprof draws by this, and whoever has seed and origin
 * (PulseCost) draws the same again. Any thread.
 */
#ifndef WIRE_WINDOWS_H
#define WIRE_WINDOWS_H

#include <stdint.h>

#define WIRE_WINDOW_NS 2000000000ll /* how long one is recorded */
#define WIRE_WINDOW_STRATUM_NS 10000000000ll /* at most one window lies in each */
#define WIRE_WINDOW_LATE_NS 1000000000ll /* one that could not begin so soon is left out */

/*
 * How long after its stratum's begin a window shall begin: every moment is as likely as any other
 * from which it ends before the stratum does. Two rounds of multiplying and folding mix the bits.
 */
static inline int64_t wire_window_draw(uint64_t seed, int64_t stratum)
{
	uint64_t x = seed + (uint64_t)stratum * 0x9e3779b97f4a7c15u;
	const uint64_t room = WIRE_WINDOW_STRATUM_NS - WIRE_WINDOW_NS - WIRE_WINDOW_LATE_NS;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (int64_t)((unsigned __int128)(x ^ x >> 31) * room >> 64);
}

#endif
