/* SPDX-License-Identifier: Apache-2.0 */
#include "choices.h"

#include <string.h>
#include "core/log.h"
#include "cost/waste.h"

bool view_option_window(const char *text, enum ana_window *window)
{
	if (!strcmp(text, "job"))
		*window = ANA_WINDOW_JOB;
	else if (!strcmp(text, "device"))
		*window = ANA_WINDOW_DEVICE;
	else {
		view_error("--window %s: no such window; job or device", text);
		return false;
	}
	return true;
}

bool view_option_waste(const char *text, bool waste[ANA_CLASSES])
{
	char bad[64];

	if (!view_waste_parse(text, waste, bad))
		return true;
	view_error("--waste %s: '%s' is not a class; name classes such as input.*,host.sync", text,
		   bad);
	return false;
}

const char *view_class_word(size_t i)
{
	return i < ANA_CLASSES ? ana_class_names[i] : NULL;
}
