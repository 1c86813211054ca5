/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a frame's file and function say of the code that runs: whose it is, and of which kind, by
 * the package that it belongs to. Texts are borrowed, and end where their length says. Pure.
 */
#ifndef ANALYSIS_MODULES_H
#define ANALYSIS_MODULES_H

#include <stdbool.h>
#include <stdint.h>

struct ana_text {
	const char *at;
	uint32_t len;
};

bool ana_text_same(struct ana_text a, struct ana_text b);
bool ana_text_begins(struct ana_text t, const char *with);
bool ana_text_ends(struct ana_text t, const char *with);
bool ana_text_among(struct ana_text t, const char *list); /* of "|name|name|" */

/* Who is at work. The innermost frame that decides does. */
enum ana_code {
	ANA_CODE_PLAIN = 0, /* nothing decides: the user's own functions, the standard library */
	ANA_CODE_DATA, /* reads, decodes or transforms data */
	ANA_CODE_MODEL, /* a framework: launches, modules, optimizers */
	ANA_CODE_CHECKPOINT, /* writes a checkpoint */
	ANA_CODE_SAVE, /* writes something through a package that also reads data */
	ANA_CODE_LOAD, /* imports or compiles code */
	ANA_CODE_EPOCH, /* makes a loader's iterator, or takes it down */
	ANA_CODE_NEXT, /* in the loader's next() */
	ANA_CODE_HANDOFF, /* packs, unpacks or pins batches */
	ANA_CODE_CPU, /* an optimizer that computes on the CPU */
};

enum ana_place {
	ANA_PLACE_USER,
	ANA_PLACE_LIBRARY, /* the standard library, a package, the interpreter itself */
	ANA_PLACE_OURS, /* libprof's own */
};
enum ana_place ana_module_place(struct ana_text file);

/*
 * No file: code that something made of a text, as the methods of multiprocessing's proxies and of
 * data classes are ("<string>"). What somebody typed in is none of these.
 */
bool ana_module_is_made(struct ana_text file);
uint8_t ana_module_feeder(struct ana_text file); /* enum facts_feeder */
/* Where packages or the standard library are; @rest: the path within, else as it was. */
enum ana_within {
	ANA_WITHIN_NEITHER,
	ANA_WITHIN_STANDARD,
	ANA_WITHIN_PACKAGES,
};
enum ana_within ana_module_within(struct ana_text file, struct ana_text *rest);
enum ana_say {
	ANA_SAY_DECIDES, /* of several, the innermost */
	ANA_SAY_WEAKLY, /* only if no frame further out decides */
	ANA_SAY_WHOLE, /* whatever runs inside, it is part of this */
	ANA_SAY_NOTHING, /* a framework's, of which models and transforms of data are made alike */
};
/* ANA_CODE_PLAIN: the frame decides nothing; ANA_SAY_NOTHING with it: yet it is no plain code. */
enum ana_code ana_module_code(struct ana_text file, struct ana_text function, enum ana_say *say);

#endif
