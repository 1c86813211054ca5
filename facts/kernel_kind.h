/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel does and in which arithmetic, by its name: the rules of kinds.def. Some 20 us a
 * name, so it is asked once for each. Pure, any thread; any bytes are good.
 */
#ifndef FACTS_KERNEL_KIND_H
#define FACTS_KERNEL_KIND_H

#include <stdbool.h>

enum facts_kind {
#define KIND(symbol, name, words) FACTS_KIND_##symbol,
#include "kinds.def"
	FACTS_KINDS
};

enum facts_precision {
#define PRECISION(symbol, name, words) FACTS_PRECISION_##symbol,
#include "kinds.def"
	FACTS_PRECISIONS
};

struct facts_kind_row {
	const char *name, *words;
};

extern const struct facts_kind_row facts_kinds[FACTS_KINDS];
extern const struct facts_kind_row facts_precisions[FACTS_PRECISIONS];

struct facts_kernel_kind {
	enum facts_kind kind;
	enum facts_precision precision;
	/*
	 * Of a backward pass: its name has backward, bwd or wgrad. (Not dgrad, with which cuDNN
	 * transposes convolutions forward, too.)
	 */
	bool backward;
	bool generates; /* keeps or reads what an earlier token left (a cache of keys and values) */
};

/* Of a kernel: never FACTS_KIND_GRAPH. */
struct facts_kernel_kind facts_kernel_kind(const char *name);

struct facts_kernel_words; /* kernel_words.h */
/*
 * kernel_precision.c: of what is multiplied or changed. Where several types stand in a name it is
 * tf32 before any other, for nothing else is computed in that, and in a @kind that may multiply
 * operands of two types fp4 or fp8; else the first, which is what is read: attention in fp16 may
 * keep its cache in fp8, and a cast to fp8 reads something else. Integers but those of 8 bits have
 * none.
 */
enum facts_precision facts_kernel_precision(const struct facts_kernel_words *w,
					    enum facts_kind kind);

#endif
