/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shm.c - maps the shared segment, keeps the table of processes, repairs after a death.
 */
#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

#define MAGIC 0x6d69737570672e31u /* "1.gpusim" */
#define VERSION 4

static struct sim_shm *mapped;
static int32_t my_slot = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

static void segment_init(struct sim_shm *shm)
{
	int i;

	lock_init(&shm->lock);
	for (i = 0; i < SIM_MAX_DEVICES; i++)
		lock_init(&shm->device[i].lock);
	shm->version = VERSION;
	shm->magic = MAGIC;
	__atomic_store_n(&shm->ready, 1, __ATOMIC_RELEASE);
}

static void *map_private(void)
{
	void *p = mmap(NULL, sizeof(struct sim_shm), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The file lock covers creation: whoever comes first sets the segment up. */
static void *map_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *p = NULL;

	if (fd < 0 && errno == ENOENT)
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	/* For every user of the machine, as the device files of a GPU are; not all may say so. */
	if (fchmod(fd, 0666))
		errno = 0;
	if (flock(fd, LOCK_EX) || fstat(fd, &st))
		goto out;
	/* It may be longer already (shown.h). */
	if (st.st_size < (off_t)sizeof(struct sim_shm) && ftruncate(fd, sizeof(struct sim_shm)))
		goto out;
	p = mmap(NULL, sizeof(struct sim_shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		p = NULL;
	if (p && !((struct sim_shm *)p)->ready)
		segment_init(p);
	if (p && ((struct sim_shm *)p)->magic != MAGIC) {
		munmap(p, sizeof(struct sim_shm));
		p = NULL;
	}
out:
	flock(fd, LOCK_UN); /* the mapping keeps the file open, and so the lock */
	close(fd);
	return p;
}

static void map_segment(void)
{
	const char *path = sim_config()->shm;

	mapped = path ? map_file(path) : map_private();
	if (!mapped)
		fprintf(stderr,
			"gpusim: cannot map %s: %s; set GPUSIM_SHM to a file that can be "
			"written\n",
			path ? path : "memory", strerror(errno));
	else if (!mapped->ready)
		segment_init(mapped);
}

struct sim_shm *sim_shm(void)
{
	pthread_once(&once, map_segment);
	return mapped;
}

void sim_shm_lock(struct sim_shm *shm)
{
	if (pthread_mutex_lock(&shm->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&shm->lock);
}

void sim_shm_unlock(struct sim_shm *shm)
{
	pthread_mutex_unlock(&shm->lock);
}

/* Killed in the middle of a change: the lines cannot be trusted, the latest end can. */
static void device_repair(struct sim_device *d)
{
	int i;

	d->owner.n = 0;
	for (i = 0; i < SIM_MAX_SLOTS; i++)
		d->slot[i].n = 0;
	for (i = 0; i < SIM_ENGINES; i++)
		d->copy[i].n = 0;
	d->floor = d->last_end;
}

void sim_device_lock(struct sim_device *d)
{
	if (pthread_mutex_lock(&d->lock) != EOWNERDEAD)
		return;
	device_repair(d);
	pthread_mutex_consistent(&d->lock);
}

void sim_device_unlock(struct sim_device *d)
{
	pthread_mutex_unlock(&d->lock);
}

/* Nothing of it runs any more; somebody has yet to wait for it. Fields 3 and 20. */
static bool over(const char *fields)
{
	int threads = 0;

	return sscanf(fields,
		      " %*[ZX] %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		      "%*d %*d %d",
		      &threads) == 1 &&
	       threads <= 1;
}

/* Field 22 of /proc/PID/stat; 0 when there is no such process. */
uint64_t sim_process_began(int32_t pid)
{
	char path[40], text[1024], *p;
	unsigned long long t = 0;
	ssize_t n;
	int fd, i;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	p = strrchr(text, ')');
	if (p && over(p + 1))
		return 0;
	for (i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	if (p)
		sscanf(p + 1, "%llu", &t);
	return t;
}

bool sim_proc_alive(const struct sim_proc *p)
{
	return sim_process_began(p->pid) == p->start_time;
}

static void purge(struct sim_shm *shm, int32_t slot)
{
	struct sim_proc *p = &shm->proc[slot];
	uint64_t now = sim_now();
	int i, j;

	for (i = 0; i < SIM_MAX_DEVICES; i++) {
		struct sim_device *d = &shm->device[i];

		if (d->last_end <= now && !p->memory[i])
			continue;
		sim_device_lock(d);
		sim_line_purge(&d->owner, now, slot);
		for (j = 0; j < SIM_MAX_SLOTS; j++)
			sim_line_purge(&d->slot[j], now, slot);
		for (j = 0; j < SIM_ENGINES; j++)
			sim_line_purge(&d->copy[j], now, slot);
		d->memory_used -= p->memory[i] < d->memory_used ? p->memory[i] : d->memory_used;
		sim_device_unlock(d);
	}
	memset(p, 0, sizeof *p);
}

int sim_proc_reap(int32_t slot)
{
	struct sim_shm *shm = sim_shm();
	int gone;

	if (slot < 0 || slot == my_slot)
		return 0;
	sim_shm_lock(shm);
	gone = shm->proc[slot].pid && !sim_proc_alive(&shm->proc[slot]);
	if (gone)
		purge(shm, slot);
	sim_shm_unlock(shm);
	return gone;
}

static int32_t find_free(struct sim_shm *shm)
{
	int32_t i;

	for (i = 0; i < SIM_MAX_PROCS; i++)
		if (!shm->proc[i].pid)
			return i;
	for (i = 0; i < SIM_MAX_PROCS; i++)
		if (!sim_proc_alive(&shm->proc[i])) {
			purge(shm, i);
			return i;
		}
	return -1;
}

/* A process that execs itself keeps its pid; what its former image had queued is gone. */
static void forget_former_self(struct sim_shm *shm)
{
	int32_t i;

	for (i = 0; i < SIM_MAX_PROCS; i++)
		if (shm->proc[i].pid == getpid())
			purge(shm, i);
}

int32_t sim_proc_slot(void)
{
	struct sim_shm *shm = sim_shm();

	if (my_slot >= 0 || !shm)
		return my_slot;
	sim_shm_lock(shm);
	forget_former_self(shm);
	my_slot = find_free(shm);
	if (my_slot >= 0) {
		shm->proc[my_slot].pid = getpid();
		shm->proc[my_slot].start_time = sim_process_began(getpid());
	}
	sim_shm_unlock(shm);
	return my_slot;
}

void sim_proc_leave(void)
{
	if (my_slot < 0 || mapped->proc[my_slot].pid != getpid())
		return;
	sim_shm_lock(mapped);
	purge(mapped, my_slot);
	sim_shm_unlock(mapped);
	my_slot = -1;
}

void sim_proc_forget(void)
{
	my_slot = -1;
}
