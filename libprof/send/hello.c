/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills and writes Hello.
 */
#include "hello.h"

#include <string.h>

#include "core/ancestors.h"
#include "core/clockpoll.h"
#include "core/config.h"
#include "core/notes.h"
#include "cupti/bufpool.h"
#include "cupti/devices.h"
#include "sample/cores.h"
#include "stream/stream.h"
#include "stream/writer.h"
#include "wire/session.pb-c.h"

#define LABELS 32

struct parts { /* what the message points to */
	Wire__Device device[PROF_DEVICES_MAX], *devices[PROF_DEVICES_MAX];
	Wire__Label label[LABELS], *labels[LABELS];
	char label_text[1024];
	Wire__Hello__EnvironmentEntry variable[PROF_VARIABLES], *variables[PROF_VARIABLES];
	Wire__PriceHint price_hint;
	const char *notes[PROF_NOTES];
};

static void fill_device(Wire__Device *m, const struct prof_device *d, uint32_t ordinal)
{
	static const uint8_t none[16];

	wire__device__init(m);
	m->ordinal = ordinal;
	m->uuid.data = (uint8_t *)(uintptr_t)d->uuid;
	m->uuid.len = sizeof(d->uuid);
	m->name = prof_text(d->name);
	m->memory_total_bytes = d->memory_total;
	m->pci_bus_id = prof_text(d->bus_id);
	m->nvml_index = d->nvml_index;
	m->mps = d->mps;
	m->context_ns = prof_stream_device(ordinal)->first_ns;
	m->mig_profile = prof_text(d->mig_profile);
	m->mig_slices = d->mig_slices;
	m->mig_slices_total = d->mig_slices_total;
	if (memcmp(d->mig_parent, none, sizeof(none))) {
		m->mig_parent_uuid.data = (uint8_t *)(uintptr_t)d->mig_parent;
		m->mig_parent_uuid.len = sizeof(d->mig_parent);
	}
}

static void fill_devices(Wire__Hello *m, struct parts *p)
{
	const struct prof_device *list;
	size_t n = prof_devices(&list), i;

	for (i = 0; i < n; i++) {
		fill_device(&p->device[i], &list[i], (uint32_t)i);
		p->devices[i] = &p->device[i];
	}
	m->n_devices = n;
	m->devices = p->devices;
}

/* k=v,k=v; a word without = is a key with an empty value. */
static void fill_labels(Wire__Hello *m, struct parts *p)
{
	char *at = p->label_text, *next, *value;
	size_t n = 0;

	strcpy(p->label_text, prof_config()->labels);
	for (; at && *at && n < LABELS; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = 0;
		value = strchr(at, '=');
		if (value)
			*value++ = 0;
		wire__label__init(&p->label[n]);
		p->label[n].key = at;
		p->label[n].value = value ? value : prof_text("");
		p->labels[n] = &p->label[n];
		n++;
	}
	m->n_labels = n;
	m->labels = p->labels;
}

static void fill_environment(Wire__Hello *m, struct parts *p, const struct prof_process *process)
{
	size_t i;

	for (i = 0; i < process->variables; i++) {
		wire__hello__environment_entry__init(&p->variable[i]);
		p->variable[i].key = prof_text(process->variable[i].name);
		p->variable[i].value = prof_text(process->variable[i].value);
		p->variables[i] = &p->variable[i];
	}
	m->n_environment = process->variables;
	m->environment = p->variables;
}

static void fill_process(Wire__Hello *m, const struct prof_process *p)
{
	m->host = prof_text(p->host);
	m->pid = p->pid;
	m->parent_pid = p->parent_pid;
	m->process_start_ns = p->start_ns;
	m->program_start_ns = p->program_start_ns;
	m->boot_id = prof_text(p->boot_id);
	m->user = prof_text(p->user);
	m->n_command = p->words;
	m->command = (char **)(uintptr_t)p->command;
	m->has_rank = p->has_rank;
	m->rank = p->rank;
	m->local_rank = p->local_rank;
	m->world_size = p->world_size;
	m->role = prof_text("trainer");
}

/* On the writer: it opens files, which the program's descriptors shall not notice. */
static void count_cores(void *cores)
{
	*(uint32_t *)cores = prof_cores();
}

/* Once, for ancestors go; on the writer, as above. */
static void look_up(void *below)
{
	static int found = -1;

	if (found < 0)
		found = prof_below_ipykernel();
	*(protobuf_c_boolean *)below = found;
}

void prof_hello_write(const struct prof_hello *h)
{
	static struct parts p;
	Wire__Hello m = WIRE__HELLO__INIT;

	memset(&p, 0, sizeof(p));
	fill_process(&m, h->process);
	fill_devices(&m, &p);
	fill_labels(&m, &p);
	fill_environment(&m, &p, h->process);
	m.run_id = prof_text(h->run_id);
	m.level = prof_text(h->level);
	m.graphs = prof_text(h->graphs);
	m.torch_version = prof_text(h->torch_version);
	m.libprof_version = prof_text(GPUSTARVE_VERSION);
	m.cupti_version = h->cupti_version;
	m.driver_version = prof_devices_driver_version();
	m.clock = prof_text(prof_clock_name());
	m.armed_ns = h->armed_ns;
	m.buffer_bytes = prof_pool_wanted();
	prof_writer_call(count_cores, &m.cpus);
	if (h->process->notebook)
		prof_writer_call(look_up, &m.ipykernel);
	wire__price_hint__init(&p.price_hint);
	p.price_hint.instance_type = prof_text(h->process->instance_type);
	p.price_hint.provider = prof_text(h->process->provider);
	m.price_hint = &p.price_hint;
	m.n_notes = prof_notes(p.notes);
	m.notes = (char **)(uintptr_t)p.notes;
	prof_stream_message(WIRE_FRAME_HELLO, &m.base);
}
