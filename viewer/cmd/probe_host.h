/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libprof's sampler will be allowed to see on this machine: memory of a process, of its
 * children, what the kernel tells of threads, the Pythons of PATH. Asks by trying;
 * changes nothing. For `gpustarve doctor`; one thread.
 */
#ifndef VIEW_PROBE_HOST_H
#define VIEW_PROBE_HOST_H

#include <stdbool.h>

#define VIEW_PYTHONS 10

struct view_probed_python {
	char name[32]; /* python3, python3.12 */
	char version[64]; /* "3.12.1"; "": it does not run */
	bool stacks; /* libprof knows where this version keeps its stacks */
	bool torch; /* torch can be found (it is not loaded) */
};

struct view_host_probe {
	int own_memory; /* process_vm_readv on ourselves: 0 or an errno */
	int child_memory; /* ... on a child */
	int yama; /* ptrace_scope; -1: no Yama */
	int syscall; /* /proc/self/task/TID/syscall of another thread's kind: 0 or an errno */
	int schedstat, io; /* /proc/self/schedstat, /proc/self/io: 0 or an errno */
	int seccomp; /* mode of this process: 0 none, 1 strict, 2 filter; -1: not told */
	int cores; /* that this process may use */
	char quota[64]; /* its cgroup's CPU quota as the kernel writes it; "": none known */
	struct view_probed_python python[VIEW_PYTHONS];
	int pythons;
};

void view_probe_host(struct view_host_probe *p);

#endif
