// SPDX-License-Identifier: Apache-2.0
#include "lib/os/library.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/mem.h"

// The pointers are those of functions, which no void * may be: they are copied.
static int find_symbols(const struct library *l, void *handle, struct err *e)
{
	for (size_t i = 0; i < l->count; i++) {
		void *found = dlsym(handle, l->symbol[i]);
		if (!found)
			return err_set(e, ERR_IO, "%s has no %s: another version of it is installed", l->file, l->symbol[i]);
		memcpy((char *)l->address + i * sizeof(found), &found, sizeof(found));
	}
	return 0;
}

static int load(const struct library *l, struct err *e)
{
	void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle)
		return err_set(e, ERR_IO, "%s; install the package that has it", dlerror());
	return find_symbols(l, handle, e);
}

int library_load(struct library *l, struct err *e)
{
	if (atomic_load(&l->is_loaded))
		return 0;
	pthread_mutex_lock(&l->lock);
	int result = atomic_load(&l->is_loaded) ? 0 : load(l, e);
	if (result == 0)
		atomic_store(&l->is_loaded, true);
	pthread_mutex_unlock(&l->lock);
	return result;
}
