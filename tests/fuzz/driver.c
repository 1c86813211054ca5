/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: takes the target's own seeds, changes them at random from
 * a printed seed, and feeds them for some seconds. What goes wrong shows as a crash or a
 * sanitizer's report; the input that did it is then in the file named at the start.
 *
 *	fuzz_x [--seconds N] [--seed N]     mutate
 *	fuzz_x FILE...                      run these inputs once
 *	fuzz_x --write DIR                  write the seeds there, as libFuzzer's corpus
 *	fuzz_x --files DIR [--changed N] [--seed N] [FILE...]
 *	                                    write there what the target makes files of (runs, traces)
 *	                                    out of its seeds, N changed ones and these inputs
 */
#include "fuzz.h"

#include <fcntl.h>
#include <getopt.h>
#include <sys/mman.h>
#include <time.h>
#include "harness.h"

#define INPUT_MAX (1u << 20)
#define SEEDS_MAX 256u

static struct {
	uint8_t *data;
	size_t len;
} seeds[SEEDS_MAX];
static unsigned int seed_count;

static void load_seeds(void)
{
	while (seed_count < SEEDS_MAX) {
		size_t len = fuzz_seed(seed_count, &seeds[seed_count].data);

		if (!len)
			break;
		seeds[seed_count++].len = len;
	}
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* One change at random; returns the new length. */
static size_t mutate(uint8_t *data, size_t len, uint64_t *rnd)
{
	static const uint8_t edge[] = { 0, 1, 0x7f, 0x80, 0xff, 0xfe, 64, 16 };
	size_t at = len ? t_random(rnd) % len : 0, n, from;
	unsigned int other = (unsigned int)(t_random(rnd) % seed_count);

	switch (len ? t_random(rnd) % 8 : 7) {
	case 0:
		data[at] ^= (uint8_t)(1 << t_random(rnd) % 8);
		return len;
	case 1:
		data[at] = edge[t_random(rnd) % sizeof(edge)];
		return len;
	case 2: /* a whole number changes */
		for (n = 0; n < 8 && at + n < len; n++)
			data[at + n] = edge[t_random(rnd) % sizeof(edge)];
		return len;
	case 3:
		data[at] = (uint8_t)(data[at] + t_random(rnd) % 9 - 4);
		return len;
	case 4: /* bytes go */
		n = 1 + t_random(rnd) % (len - at < 64 ? len - at : 64);
		memmove(data + at, data + at + n, len - at - n);
		return len - n;
	case 5: /* bytes come twice */
		n = 1 + t_random(rnd) % (len - at < 64 ? len - at : 64);
		if (len + n > INPUT_MAX)
			return len;
		memmove(data + at + n, data + at, len - at);
		return len + n;
	case 6: /* the end goes */
		return at;
	default: /* a piece of another seed */
		from = t_random(rnd) % seeds[other].len;
		n = 1 + t_random(rnd) % (seeds[other].len - from);
		if (at + n > INPUT_MAX)
			return len;
		memcpy(data + at, seeds[other].data + from, n);
		return at + n > len ? at + n : len;
	}
}

/* A seed, changed in some places; @to has room for INPUT_MAX. Returns its length. */
static size_t change_seed(uint8_t *to, uint64_t *rnd)
{
	unsigned int seed = (unsigned int)(t_random(rnd) % seed_count), changes;
	size_t len = seeds[seed].len;

	memcpy(to, seeds[seed].data, len);
	for (changes = 1 + (unsigned int)(t_random(rnd) % 6); changes; changes--)
		len = mutate(to, len, rnd);
	return len;
}

/* A copy that ends where the input ends, so that reading too far is seen. */
static void run_exact(const uint8_t *data, size_t len)
{
	uint8_t *exact = malloc(len + 1);

	memcpy(exact + 1, data, len);
	LLVMFuzzerTestOneInput(exact + 1, len);
	free(exact);
}

/* The input lies in a shared mapping: it survives the crash that it causes. */
static uint8_t *open_input(const char *name, size_t **len)
{
	char path[256];
	uint8_t *map;
	int fd;

	snprintf(path, sizeof(path), "%s.input", name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	REQUIRE(fd >= 0 && !ftruncate(fd, INPUT_MAX + (off_t)sizeof(size_t)));
	map = mmap(NULL, INPUT_MAX + sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(map != MAP_FAILED);
	close(fd);
	printf("the input is in %s (its length in the last 8 bytes)\n", path);
	*len = (size_t *)(void *)(map + INPUT_MAX);
	return map;
}

static void fuzz(const char *name, double seconds, uint64_t rnd)
{
	int64_t end = now_ns() + (int64_t)(seconds * 1e9);
	uint64_t runs = 0;
	char path[256];
	size_t *len;
	uint8_t *input = open_input(name, &len);

	while (now_ns() < end) {
		*len = change_seed(input, &rnd);
		run_exact(input, *len);
		runs++;
	}
	printf("%" PRIu64 " inputs\n", runs);
	snprintf(path, sizeof(path), "%s.input", name);
	unlink(path);
}

/* At most INPUT_MAX bytes of it, in @data. False: it is not there, and that was said. */
static bool read_input(const char *path, uint8_t *data, size_t *len)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return false;
	}
	*len = fread(data, 1, INPUT_MAX, f);
	fclose(f);
	return true;
}

static int run_file(const char *path)
{
	uint8_t *data = malloc(INPUT_MAX);
	size_t len;
	bool there = read_input(path, data, &len);

	if (there)
		run_exact(data, len);
	free(data);
	return !there;
}

static int write_to(const char *dir, const char *name, const uint8_t *data, size_t len)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f && fwrite(data, 1, len, f) == len && !fclose(f))
		return 0;
	perror(path);
	return 1;
}

static int write_seeds(const char *to)
{
	unsigned int i;
	int status = 0;

	for (i = 0; i < seed_count && !status; i++) {
		char name[32];

		snprintf(name, sizeof(name), "seed-%u", i);
		status = write_to(to, name, seeds[i].data, seeds[i].len);
	}
	return status;
}

/* --- what a target makes files of --- */

__attribute__((weak)) size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **file)
{
	(void)data;
	(void)len;
	*file = NULL;
	return 0;
}

static int write_file_of(const char *to, const char *name, const uint8_t *data, size_t len)
{
	uint8_t *file = NULL;
	int status = 0;

	len = fuzz_file(data, len, &file);
	if (len)
		status = write_to(to, name, file, len);
	free(file);
	return status;
}

static int write_files(const char *to, unsigned int changed, uint64_t rnd, char **path)
{
	uint8_t *data = malloc(INPUT_MAX);
	unsigned int i;
	int status = 0;
	char name[32];
	size_t len;

	for (i = 0; i < seed_count; i++) {
		snprintf(name, sizeof(name), "seed-%u", i);
		status |= write_file_of(to, name, seeds[i].data, seeds[i].len);
	}
	for (i = 0; i < changed; i++) {
		snprintf(name, sizeof(name), "changed-%u", i);
		len = change_seed(data, &rnd);
		status |= write_file_of(to, name, data, len);
	}
	for (; *path; path++) {
		const char *slash = strrchr(*path, '/');

		status |= !read_input(*path, data, &len) ||
			  write_file_of(to, slash ? slash + 1 : *path, data, len);
	}
	free(data);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "write", required_argument, NULL, 'w' },
		{ "files", required_argument, NULL, 'f' },
		{ "changed", required_argument, NULL, 'c' },
		{ 0 },
	};
	double seconds = 3;
	uint64_t rnd = 1;
	const char *files = NULL;
	unsigned int i, changed = 0;
	int c, status = 0;

	load_seeds();
	while ((c = getopt_long(argc, argv, "t:s:w:f:c:", options, NULL)) != -1) {
		if (c == 't')
			seconds = atof(optarg);
		else if (c == 's')
			rnd = strtoull(optarg, NULL, 0);
		else if (c == 'f')
			files = optarg;
		else if (c == 'c')
			changed = (unsigned int)strtoul(optarg, NULL, 0);
		else
			return c == 'w' ? write_seeds(optarg) : 1;
	}
	if (files)
		return write_files(files, changed, rnd, argv + optind);
	for (i = 0; i < seed_count; i++)
		run_exact(seeds[i].data, seeds[i].len);
	if (optind == argc) {
		printf("%u seeds, random seed %" PRIu64 "\n", seed_count, rnd);
		fuzz(argv[0], seconds, rnd);
	}
	for (; optind < argc; optind++)
		status |= run_file(argv[optind]);
	for (i = 0; i < seed_count; i++)
		free(seeds[i].data);
	return status;
}
