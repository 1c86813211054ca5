/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve doctor --pid, --job, --pod and -- COMMAND: why it is not recorded, in one line. */
#ifndef VIEW_DOCTOR_MISSED_H
#define VIEW_DOCTOR_MISSED_H

struct view_doctor_asked {
	const char *pid, *job, *pod; /* as given; NULL: not asked */
	char *const *command; /* words of what would be started; NULL: none */
};

/* Exit status: 0 it is or would be recorded, 1 it is not, or that cannot be told. */
int view_doctor_missed(const struct view_doctor_asked *asked);

#endif
