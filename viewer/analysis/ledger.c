/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what the ledger tells apart beside classes. */
#include "ledger.h"

const char *const ana_verdict_names[ANA_VERDICTS] = {
#define VERDICT(symbol, name) name,
#include "facts/verdicts.def"
};

const char *const ana_severity_names[ANA_SEVERITIES] = {
#define SEVERITY(symbol, name) name,
#include "facts/verdicts.def"
};

const char *const ana_phase_names[ANA_PHASES] = { [ANA_PHASE_STEPS] = "steps",
						  [ANA_PHASE_EVALUATION] = "evaluation",
						  [ANA_PHASE_OTHER] = "other",
						  [ANA_PHASE_MIXED] = "mixed" };

const char *const ana_copy_names[ANA_COPY_DIRS] = {
#define COPY(symbol, name, words) name,
#include "facts/copies.def"
};

int ana_units_told(const struct ana_units in[ANA_PHASES])
{
	int n = 0;

	for (int i = 0; i < ANA_PHASES; i++)
		n += in[i].known_ns > 0;
	return n;
}
