/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: takes the target's own seeds, changes them at random from
 * a printed seed, and feeds them for some seconds. What goes wrong shows as a crash or a
 * sanitizer's report; the input that did it is then in the file named at the start.
 *
 *	fuzz_x [--seconds N] [--seed N]     mutate
 *	fuzz_x FILE...                      run these inputs once
 *	fuzz_x --write DIR                  write the seeds there, as libFuzzer's corpus
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
		unsigned int seed = (unsigned int)(t_random(&rnd) % seed_count), changes;

		*len = seeds[seed].len;
		memcpy(input, seeds[seed].data, *len);
		for (changes = 1 + (unsigned int)(t_random(&rnd) % 6); changes; changes--)
			*len = mutate(input, *len, &rnd);
		run_exact(input, *len);
		runs++;
	}
	printf("%" PRIu64 " inputs\n", runs);
	snprintf(path, sizeof(path), "%s.input", name);
	unlink(path);
}

static int run_file(const char *path)
{
	uint8_t *data = malloc(INPUT_MAX);
	FILE *f = fopen(path, "r");
	size_t len;

	if (!f) {
		perror(path);
		free(data);
		return 1;
	}
	len = fread(data, 1, INPUT_MAX, f);
	fclose(f);
	run_exact(data, len);
	free(data);
	return 0;
}

static int write_seeds(const char *to)
{
	unsigned int i;

	for (i = 0; i < seed_count; i++) {
		char path[512];
		FILE *f;

		snprintf(path, sizeof(path), "%s/seed-%u", to, i);
		f = fopen(path, "w");
		if (!f || fwrite(seeds[i].data, 1, seeds[i].len, f) != seeds[i].len || fclose(f)) {
			perror(path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "write", required_argument, NULL, 'w' },
		{ 0 },
	};
	double seconds = 3;
	uint64_t rnd = 1;
	unsigned int i;
	int c, status = 0;

	load_seeds();
	while ((c = getopt_long(argc, argv, "t:s:w:", options, NULL)) != -1) {
		if (c == 't')
			seconds = atof(optarg);
		else if (c == 's')
			rnd = strtoull(optarg, NULL, 0);
		else
			return c == 'w' ? write_seeds(optarg) : 1;
	}
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
