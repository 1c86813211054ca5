/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict: which kind of time is large enough to name, first that holds.
 */
#include "ledger.h"

/*
 * part >= percent of whole, without rounding and without overflow: wild stamps make times that are
 * cut at INT64_MAX, and sums of them go beyond.
 */
static bool reaches(__int128 part, int percent, __int128 whole)
{
	return 100 * part >= percent * whole;
}

static bool device_waste(int c)
{
	return ana_class_is_device(c) && ana_class_is_waste(c);
}

static bool host_waste(int c)
{
	return ana_class_is_host(c) && ana_class_is_waste(c);
}

static enum ana_severity severity_of(__int128 input, __int128 whole)
{
	if (reaches(input, ANA_CRITICAL_PCT, whole))
		return ANA_S_CRITICAL;
	return reaches(input, ANA_WARNING_PCT, whole) ? ANA_S_WARNING : ANA_S_NOTICE;
}

static enum ana_verdict verdict_of(const int64_t classes[ANA_CLASSES], __int128 whole)
{
	const struct {
		__int128 part;
		int percent;
		enum ana_verdict verdict;
	} test[] = {
		{ ana_class_sum(classes, ana_class_is_input), 5, ANA_V_INPUT_BOUND },
		{ ana_class_sum(classes, ana_class_is_doubt), 20, ANA_V_INCONCLUSIVE },
		{ ana_class_sum(classes, host_waste), 10, ANA_V_HOST_BOUND },
		{ (__int128)classes[ANA_COMM] + classes[ANA_COMM_SKEW], 20, ANA_V_COMM_BOUND },
		{ classes[ANA_COPY], 10, ANA_V_COPY_BOUND },
		{ ana_class_sum(classes, device_waste), 10, ANA_V_DEVICE_BOUND },
	};
	size_t i;

	for (i = 0; i < sizeof(test) / sizeof(test[0]); i++)
		if (reaches(test[i].part, test[i].percent, whole))
			return test[i].verdict;
	return ANA_V_BUSY;
}

struct ana_judgement ana_verdict_of(int64_t held_ns, const int64_t classes[ANA_CLASSES])
{
	struct ana_judgement j = { ANA_V_INCONCLUSIVE, ANA_S_NONE, false };
	__int128 whole = held_ns - ana_class_sum(classes, ana_class_is_outside);

	if (whole <= 0)
		return j;
	j.verdict = verdict_of(classes, whole);
	if (j.verdict == ANA_V_INPUT_BOUND)
		j.severity = severity_of(ana_class_sum(classes, ana_class_is_input), whole);
	j.flagged = j.severity >= ANA_S_WARNING;
	return j;
}
