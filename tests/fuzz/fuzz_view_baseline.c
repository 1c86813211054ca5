/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A baseline file from any bytes: what is accepted is compared with itself and shown in every form.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/files.h"
#include "check/check_out.h"

static void judge(struct base_arena *mem, struct check_run *run, size_t runs)
{
	const struct check_options o = { 0.01, 0.015, 0.005, true };
	struct check_budget b;
	struct check_result r;
	const char *why;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	check_result_init(&r, mem);
	if (!check_budget_parse("usd_per_1k_steps<=1", &b, &why))
		check_judge_budget(&r, &b, &run[0]);
	check_judge_whole(&r, &run[0]);
	if (run[0].series.count < 512) /* the bootstrap of long ones takes the fuzzer's time */
		check_judge_change(&r, run, runs < 2 ? runs : 2, run, 1, &o);
	for (const struct check_format *k = check_formats; k->name; k++)
		k->write(&r, f);
	fclose(f);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct check_run run[CHECK_RUNS_MAX];
	struct base_arena mem = { 0 };
	int fd = memfd_create("baseline", MFD_CLOEXEC);
	const char *why;
	char path[64];
	size_t runs;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!check_baseline_read(path, &mem, run, &runs, &why)) {
		judge(&mem, run, runs);
		while (runs)
			check_run_fini(&run[--runs]);
	}
	base_arena_fini(&mem);
	close(fd);
	return 0;
}

/* A small baseline as the program writes it. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	struct check_item item[40];
	struct check_run run = { .id = "r",
				 .hardware = "1x <H100> | `x`",
				 .nano_usd_per_hour = 1000000000,
				 .gpus = 1,
				 .ranks = 1,
				 .gpu_ns = 1000,
				 .steps = 40,
				 .complete = number == 0,
				 .series = { item, 40, 1, 41, 1, 0, { 1 } },
				 .hotspot = { { ANA_COMPUTE, "/a/b.py", "f\"::x", 3, 1000 } },
				 .hotspots = 1 };
	char path[] = "/tmp/gs-fuzz-XXXXXX";
	int fd = number < 2 ? mkstemp(path) : -1;
	size_t len = 0;
	char *text;

	if (fd < 0)
		return 0;
	close(fd);
	run.classes[ANA_COMPUTE] = 1000;
	for (int i = 0; i < 40; i++)
		item[i] = (struct check_item){ 1000 + i * (int)number, i };
	if (check_baseline_write(path, &run, 1) || base_file_read(path, &text, &len))
		abort();
	unlink(path);
	*data = (uint8_t *)text;
	return len;
}
