/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiler attributes and the few macros that every file uses. */
#ifndef SCR_BASE_COMPILER_H
#define SCR_BASE_COMPILER_H

#include <stddef.h>

#define SCR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define SCR_NODISCARD __attribute__((warn_unused_result))
#define SCR_UNUSED __attribute__((unused))

#define SCR_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define SCR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SCR_MAX(a, b) ((a) > (b) ? (a) : (b))

/* The struct of type @type whose member @member is at @ptr. */
#define SCR_CONTAINER_OF(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

#endif
