/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the classes, and the sets of them that the ledger's rules are about.
 */
#include "class.h"

#include <string.h>
#include "facts/class.h"

const char *const ana_class_names[ANA_CLASSES] = {
#define CLASS(symbol, name, group, marks, colour, meaning, loss, proof, basis, advice) name,
#include "facts/classes.def"
};

const char *const ana_confidence_names[ANA_CONFIDENCES] = {
#define CONFIDENCE(symbol, name) name,
#include "facts/verdicts.def"
};

int ana_class_by_name(const char *name)
{
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		if (!strcmp(ana_class_names[c], name))
			return c;
	return -1;
}

static bool in_group(int c, enum facts_group group)
{
	return c >= 0 && c < ANA_CLASSES && facts_classes[c].group == group;
}

static bool is_marked(int c, enum facts_mark mark)
{
	return c >= 0 && c < ANA_CLASSES && (facts_classes[c].marks & mark);
}

bool ana_class_is_input(int c)
{
	return in_group(c, FACTS_GROUP_INPUT);
}

bool ana_class_is_host(int c)
{
	return in_group(c, FACTS_GROUP_HOST);
}

bool ana_class_is_device(int c)
{
	return in_group(c, FACTS_GROUP_DEVICE);
}

bool ana_class_is_busy(int c)
{
	return c >= 0 && c < ANA_CLASSES &&
	       facts_groups[facts_classes[c].group].state == FACTS_STATE_BUSY;
}

bool ana_class_is_recorded(int c)
{
	return in_group(c, FACTS_GROUP_BUSY) || in_group(c, FACTS_GROUP_EXCLUDED);
}

bool ana_class_is_waste(int c)
{
	return is_marked(c, FACTS_WASTE);
}

bool ana_class_is_doubt(int c)
{
	return is_marked(c, FACTS_DOUBT);
}

bool ana_class_is_outside(int c)
{
	return is_marked(c, FACTS_OUTSIDE);
}

bool ana_class_wants_workers(int c)
{
	return is_marked(c, FACTS_WORKERS);
}

__int128 ana_class_sum(const int64_t classes[ANA_CLASSES], bool (*in)(int))
{
	__int128 sum = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		if (in(c))
			sum += classes[c];
	return sum;
}
