/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and groups of the classes.
 */
#include "class.h"

#include <string.h>
#include "ledger.h"

const char *const ana_class_names[ANA_CLASSES] = {
#define X(symbol, name) name,
	ANA_CLASS_LIST(X)
#undef X
};

const char *const ana_confidence_names[ANA_CONFIDENCES] = { "high", "medium", "low", "none" };

const char *const ana_verdict_names[ANA_VERDICTS] = {
	"input-bound",	"host-bound", "comm-bound",   "copy-bound",
	"device-bound", "busy",	      "inconclusive",
};

const char *const ana_severity_names[4] = { NULL, "notice", "warning", "critical" };

const char *const ana_copy_names[ANA_COPY_DIRS] = { "h2d", "d2h", "d2d", "p2p", "h2h", "memset" };

int ana_class_by_name(const char *name)
{
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		if (!strcmp(ana_class_names[c], name))
			return c;
	return -1;
}

int ana_class_is_input(int c)
{
	return c >= ANA_INPUT_FETCH && c <= ANA_INPUT_UNKNOWN;
}

int ana_class_is_host(int c)
{
	return c >= ANA_HOST_DISPATCH && c <= ANA_HOST_UNKNOWN;
}

int ana_class_is_device(int c)
{
	return c >= ANA_DEVICE_TURNAROUND && c <= ANA_DEVICE_UNKNOWN;
}

int ana_class_is_waste(int c)
{
	if (c == ANA_HOST_UNKNOWN || c == ANA_DEVICE_TURNAROUND || c == ANA_DEVICE_UNKNOWN ||
	    c == ANA_DEVICE_LOST)
		return 0;
	return ana_class_is_input(c) || ana_class_is_host(c) || ana_class_is_device(c) ||
	       c == ANA_COPY || c == ANA_EXCLUDED_NO_PROCESS;
}
