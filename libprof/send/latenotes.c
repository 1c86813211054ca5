/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each once.
 */
#include "latenotes.h"

#include "core/notes.h"
#include "cupti/intake.h"
#include "cupti/names.h"
#include "facts/cupti.h"

/*
 * Noted at once, and at the end with their number: so it stands in a killed process's trace, too.
 */
static bool lost_names(void)
{
	static bool noted;

	if (noted || !prof_names_lost())
		return false;
	noted = true;
	prof_note(
		"the names of some kernels could not be read or found no room: these kernels have "
		"no name");
	return true;
}

/* What this CUPTI may do to a program that goes on like this: who reads it can see to that. */
static bool risky_graphs(const struct prof_cupti *cupti)
{
	const struct facts_cupti_trouble *t = facts_cupti_trouble(FACTS_CUPTI_LONG_GRAPHS);
	static bool noted;

	if (noted || !cupti || !(cupti->facts & FACTS_CUPTI_LONG_GRAPHS) || !prof_intake()->graphs)
		return false;
	noted = true;
	prof_note("of this version of CUPTI (%u) it is known that %s: %s", cupti->version, t->what,
		  t->remedy);
	return true;
}

bool prof_latenotes_tick(const struct prof_cupti *cupti)
{
	bool names = lost_names(), graphs = risky_graphs(cupti);

	return names || graphs;
}
