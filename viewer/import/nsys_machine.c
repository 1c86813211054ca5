/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the file says of the machine: its GPUs, how processes number them, host and driver.
 */
#include "nsys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "GPU-f6b62fcc-9318-c13e-22f6-766d35cb6503" or without the prefix; or 16 plain bytes. */
static bool parse_uuid(sqlite3_stmt *s, int column, uint8_t out[16])
{
	const char *text;
	size_t len, digits = 0, i;

	if (sqlite3_column_type(s, column) == SQLITE_BLOB) {
		if (sqlite3_column_bytes(s, column) != 16)
			return false;
		memcpy(out, sqlite3_column_blob(s, column), 16);
		return true;
	}
	text = view_import_db_text(s, column, &len);
	if (!text)
		return false;
	for (i = len >= 4 && (!memcmp(text, "GPU-", 4) || !memcmp(text, "MIG-", 4)) ? 4 : 0;
	     i < len; i++) {
		int d = hex_digit(text[i]);

		if (text[i] == '-')
			continue;
		if (d < 0 || digits == 32)
			return false;
		out[digits / 2] = (uint8_t)(digits & 1 ? out[digits / 2] | d : d << 4);
		digits++;
	}
	return digits == 32;
}

enum {
	G_ID,
	G_NAME,
	G_UUID,
	G_MEMORY,
	G_BUS,
	G_COLUMNS
};

static int add_gpu(struct nsys *r, sqlite3_stmt *s, int unused)
{
	struct view_import_value id = view_import_db_int(s, G_ID),
				 memory = view_import_db_int(s, G_MEMORY);
	struct view_import_device *d;

	(void)unused;
	r->t->rows--; /* not of the recording */
	if (id.type != VIEW_IMPORT_INT)
		return 0;
	d = view_import_device_new(r->t);
	if (!d)
		return -ENOMEM;
	d->any_process = true;
	d->ordinal = id.num;
	view_import_db_copy(s, G_NAME, d->name, sizeof(d->name));
	view_import_db_copy(s, G_BUS, d->bus, sizeof(d->bus));
	d->has_uuid = parse_uuid(s, G_UUID, d->uuid);
	d->memory_bytes =
		memory.type == VIEW_IMPORT_INT && memory.num > 0 ? (uint64_t)memory.num : 0;
	return 0;
}

enum {
	D_GPU,
	D_CUDA,
	D_PID,
	D_UUID,
	D_COLUMNS
};

/* A process may number its devices as it likes: what it calls 0 can be the machine's GPU 3. */
static int add_cuda_device(struct nsys *r, sqlite3_stmt *s, int gpus)
{
	struct view_import_value gpu = view_import_db_int(s, D_GPU),
				 cuda = view_import_db_int(s, D_CUDA);
	struct view_import_value pid = view_import_db_int(s, D_PID);
	struct view_import_device *d, *of = NULL;
	int i;

	r->t->rows--;
	if (cuda.type != VIEW_IMPORT_INT || pid.type != VIEW_IMPORT_INT)
		return 0;
	d = view_import_device_new(r->t);
	if (!d)
		return -ENOMEM;
	for (i = 0; i < gpus; i++)
		if (nsys_is(gpu, r->t->device[i].ordinal))
			of = &r->t->device[i];
	if (of)
		*d = *of;
	d->any_process = false;
	d->pid = pid.num & NSYS_ID_BITS;
	d->ordinal = cuda.num;
	if (parse_uuid(s, D_UUID, d->uuid))
		d->has_uuid = true;
	return 0;
}

enum {
	E_NAME,
	E_VALUE,
	E_COLUMNS
};

static int add_env(struct nsys *r, sqlite3_stmt *s, int unused)
{
	size_t len;
	const char *name = view_import_db_text(s, E_NAME, &len);

	(void)unused;
	r->t->rows--;
	if (name && !strcmp(name, "Hostname"))
		view_import_db_copy(s, E_VALUE, r->t->host, sizeof(r->t->host));
	else if (name && !strcmp(name, "CudaDriverVersion")) {
		const char *value = view_import_db_text(s, E_VALUE, &len);

		r->t->driver_version = value ? (uint32_t)strtoul(value, NULL, 10) : 0;
	}
	return 0;
}

int nsys_machine(struct nsys *r)
{
	static const char *const gpu[G_COLUMNS] = { "id", "name", "uuid", "totalMemory",
						    "busLocation" };
	static const char *const cuda[D_COLUMNS] = { "gpuId", "cudaId", "pid", "uuid" };
	static const char *const env[E_COLUMNS] = { "name", "value" };
	int err = nsys_each_row(r, "TARGET_INFO_GPU", gpu, G_COLUMNS, add_gpu, 0);

	if (!err)
		err = nsys_each_row(r, "TARGET_INFO_CUDA_DEVICE", cuda, D_COLUMNS, add_cuda_device,
				    (int)r->t->devices);
	if (!err)
		err = nsys_each_row(r, "TARGET_INFO_SYSTEM_ENV", env, E_COLUMNS, add_env, 0);
	return err;
}
