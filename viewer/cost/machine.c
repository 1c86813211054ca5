/* SPDX-License-Identifier: Apache-2.0 */
/* AWS puts the instance type into product_name; Azure and Google only say who they are. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "trace/trace.h"

#define AZURE_CHASSIS "7783-7084-3265-9085-8269-3286-77"

static void read_id(char *out, size_t room, const char *name)
{
	const char *folder = getenv("GPUSTARVE_DMI");
	char path[512], *text;
	size_t len;

	out[0] = '\0';
	if (!folder || !folder[0])
		folder = "/sys/class/dmi/id";
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (base_file_read(path, &text, &len))
		return;
	text[strcspn(text, "\r\n")] = '\0';
	snprintf(out, room, "%s", text);
	free(text);
}

void view_machine_here(struct view_machine *p)
{
	char vendor[64], chassis[64];

	*p = (struct view_machine){ 0 };
	read_id(vendor, sizeof(vendor), "sys_vendor");
	if (!strcmp(vendor, "Amazon EC2")) {
		strcpy(p->provider, "aws");
		read_id(p->instance_type, sizeof(p->instance_type), "product_name");
	} else if (!strcmp(vendor, "Google")) {
		strcpy(p->provider, "gcp");
	} else {
		read_id(chassis, sizeof(chassis), "chassis_asset_tag");
		if (!strcmp(chassis, AZURE_CHASSIS))
			strcpy(p->provider, "azure");
	}
}

bool view_machine_of(const struct view_trace *t, const char *host, struct view_machine *p)
{
	*p = (struct view_machine){ 0 };
	for (size_t i = 0; t && i < t->streams; i++) {
		const Wire__Hello *h = t->stream[i].hello;

		if (!h || !h->price_hint || strcmp(h->host, host) != 0)
			continue;
		snprintf(p->provider, sizeof(p->provider), "%s", h->price_hint->provider);
		snprintf(p->instance_type, sizeof(p->instance_type), "%s",
			 h->price_hint->instance_type);
		if (p->provider[0] || p->instance_type[0])
			return true;
	}
	return false;
}
