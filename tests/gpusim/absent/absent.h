/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.h - functions of CUDA's libraries without a body, one line each of what standins.cmake
 * generates. Each counts itself in the truth file (gpusim_missing) and returns that it is not
 * supported. They are weak: a definition by hand in the same library takes their place. Callers
 * pass arguments, which the x86-64 and aarch64 calling conventions let be.
 *
 * Set by standins.cmake: ABSENT_LIBRARY, the SONAME, and ABSENT_STATUS, the library's code for "not
 * supported".
 */
#ifndef SIM_ABSENT_H
#define SIM_ABSENT_H

#include "../standin.h"

#define ABSENT(type, function)                             \
	SIM_API __attribute__((weak)) type function(void); \
	type function(void)                                \
	{                                                  \
		gpusim_missing(ABSENT_LIBRARY, #function);

/* Wide enough for a status of two words: cuFile's. */
#define ABSENT_status(function) \
	ABSENT(long, function)  \
	return ABSENT_STATUS;   \
	}
#define ABSENT_pointer(function) \
	ABSENT(void *, function) \
	return NULL;             \
	}
#define ABSENT_text(function)                                   \
	ABSENT(const char *, function)                          \
	return "not supported by the simulated GPU's stand-in"; \
	}
#define ABSENT_void(function)  \
	ABSENT(void, function) \
	}
#define ABSENT_zero(function)  \
	ABSENT(long, function) \
	return 0;              \
	}
#define ABSENT_minus(function) \
	ABSENT(long, function) \
	return -1;             \
	}

#endif
