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

const char *const ana_copy_names[ANA_COPY_DIRS] = {
#define COPY(symbol, name, words) name,
#include "facts/copies.def"
};
