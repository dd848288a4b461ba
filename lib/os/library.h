// SPDX-License-Identifier: Apache-2.0
// A shared library that is loaded when it is first needed: with all that it needs itself it costs each start more time
// than all else that a command does, and memory.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct library {
	const char *file;          // its soname, of which configure has linked one
	const char *const *symbol; // names of functions
	size_t count;
	void *address; // of as many pointers to functions, in this order
	pthread_mutex_t lock;
	_Atomic bool is_loaded;
};

// A table F(one) F(two) … of functions gives the members of the struct of pointers, which have their names, and the
// names.
#define LIBRARY_POINTER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name) #name,
#define LIBRARY(file, names, pointers)                                                                                 \
	{file, names, ARRAY_SIZE(names), &(pointers), PTHREAD_MUTEX_INITIALIZER, false}

// Sets the pointers, once. It stays loaded until the process ends. ERR_IO: it is absent, or lacks a function. Any
// thread.
int library_load(struct library *l, struct err *e) MUST_CHECK;
