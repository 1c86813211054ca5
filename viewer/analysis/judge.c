/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict: which kind of time is large enough to name, first that holds.
 */
#include "ledger.h"

/* part >= percent of whole, without rounding and without overflow. */
static bool reaches(int64_t part, int percent, int64_t whole)
{
	return (__int128)100 * part >= (__int128)percent * whole;
}

static int64_t sum_of(const int64_t classes[ANA_CLASSES], int (*in)(int))
{
	int64_t sum = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		if (in(c))
			sum += classes[c];
	return sum;
}

static int device_bound(int c)
{
	return ana_class_is_device(c) && c != ANA_DEVICE_TURNAROUND && c != ANA_DEVICE_UNKNOWN &&
	       c != ANA_DEVICE_LOST;
}

static int host_bound(int c)
{
	return ana_class_is_host(c) && c != ANA_HOST_UNKNOWN;
}

static int unexplained(int c)
{
	return c == ANA_HOST_UNKNOWN || c == ANA_DEVICE_UNKNOWN || c == ANA_DEVICE_LOST ||
	       c == ANA_EXCLUDED_UNOBSERVED;
}

static enum ana_severity severity_of(int64_t input, int64_t whole)
{
	if (reaches(input, 20, whole))
		return ANA_S_CRITICAL;
	return reaches(input, 10, whole) ? ANA_S_WARNING : ANA_S_NOTICE;
}

static enum ana_verdict verdict_of(const int64_t classes[ANA_CLASSES], int64_t whole)
{
	const struct {
		int64_t part;
		int percent;
		enum ana_verdict verdict;
	} test[] = {
		{ sum_of(classes, ana_class_is_input), 5, ANA_V_INPUT_BOUND },
		{ sum_of(classes, unexplained), 20, ANA_V_INCONCLUSIVE },
		{ sum_of(classes, host_bound), 10, ANA_V_HOST_BOUND },
		{ classes[ANA_COMM] + classes[ANA_COMM_SKEW], 20, ANA_V_COMM_BOUND },
		{ classes[ANA_COPY], 10, ANA_V_COPY_BOUND },
		{ sum_of(classes, device_bound), 10, ANA_V_DEVICE_BOUND },
	};
	size_t i;

	for (i = 0; i < sizeof(test) / sizeof(test[0]); i++)
		if (reaches(test[i].part, test[i].percent, whole))
			return test[i].verdict;
	return ANA_V_BUSY;
}

struct ana_judgement ana_judge(int64_t held_ns, const int64_t classes[ANA_CLASSES])
{
	struct ana_judgement j = { ANA_V_INCONCLUSIVE, ANA_S_NONE, false };
	int64_t whole = held_ns - classes[ANA_EXCLUDED_STARTUP] - classes[ANA_EXCLUDED_TEARDOWN] -
			classes[ANA_EXCLUDED_NO_PROCESS];

	if (whole <= 0)
		return j;
	j.verdict = verdict_of(classes, whole);
	if (j.verdict == ANA_V_INPUT_BOUND)
		j.severity = severity_of(sum_of(classes, ana_class_is_input), whole);
	j.flagged = j.severity >= ANA_S_WARNING;
	return j;
}
