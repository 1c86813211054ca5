/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of GPU time and all that is said of them: classes.def as constants. The index of a
 * class is its enum ana_class (viewer/analysis/class.h), made of the same rows. Any thread, any
 * time.
 */
#ifndef FACTS_CLASS_H
#define FACTS_CLASS_H

enum facts_state { /* of the GPU meanwhile */
	FACTS_STATE_BUSY,
	FACTS_STATE_IDLE,
	FACTS_STATE_EXCLUDED, /* nobody's time */
};

enum facts_group {
#define GROUP(symbol, state, chapter) FACTS_GROUP_##symbol,
#include "classes.def"
	FACTS_GROUPS
};

enum facts_colour {
#define COLOUR(symbol, name, words) FACTS_COLOUR_##symbol,
#include "classes.def"
	FACTS_COLOURS
};

enum facts_mark {
	FACTS_WASTE = 1u << 0, /* counts as waste unless the user says otherwise */
	FACTS_DOUBT = 1u << 1, /* nobody knows what it was; with much of it there is no verdict */
	FACTS_OUTSIDE = 1u << 2, /* of the time that verdicts are about; nothing ran in it */
	FACTS_WORKERS = 1u << 3, /* more loader workers may spare it */
};

struct facts_advice { /* all NULL: there is none */
	const char *id, *title, *brief, *action;
};

struct facts_class {
	const char *name;
	enum facts_group group;
	unsigned marks; /* of enum facts_mark */
	enum facts_colour colour;
	const char *meaning, *loss, *proof, *basis;
	struct facts_advice advice;
};

struct facts_group_row {
	enum facts_state state;
	const char *chapter;
};

struct facts_colour_row {
	const char *name, *words;
};

extern const struct facts_class facts_classes[];
extern const struct facts_group_row facts_groups[FACTS_GROUPS];
extern const struct facts_colour_row facts_colours[FACTS_COLOURS];

#endif
