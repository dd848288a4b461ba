// SPDX-License-Identifier: Apache-2.0
// wheelcache.conf: an error names its line, and an accepted configuration is complete.
#include "lib/state/config/config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/domain/machine/platform.h"
#include "tests/fuzz/fuzz.h"

// A file in memory, with a path that opens it. -1 if the system does not support that.
static int memory_file(const uint8_t *bytes, size_t size, char path[64])
{
	int fd = memfd_create("fuzz-config", MFD_CLOEXEC);
	HOLDS(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static bool is_platform(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->platform_count; i++)
		if (strcmp(c->platforms[i].name, name) == 0)
			return true;
	return false;
}

static void check_named(const struct config *c)
{
	for (size_t i = 0; i < c->platform_count; i++)
		HOLDS(platform_name_is_valid(str_from(c->platforms[i].name)));
	for (size_t i = 0; i < c->view_count; i++) {
		HOLDS(platform_name_is_valid(str_from(c->views[i].name)));
		HOLDS(c->views[i].platform_count > 0 && !is_platform(c, c->views[i].name));
		for (size_t k = 0; k < c->views[i].platform_count; k++)
			HOLDS(platform_name_is_valid(str_from(c->views[i].platforms[k])));
	}
}

static void check_values(const struct config *c)
{
	static const char levels[] = " error warn info debug ";
	CLEANUP(mem_free) char *level = xasprintf(" %s ", c->log_level);
	HOLDS(strstr(levels, level) && c->listen);
	HOLDS(c->connections >= 1 && c->timeout >= 1);
	HOLDS(!c->default_view || platform_name_is_valid(str_from(c->default_view)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(config_release) struct config c;
	char path[64];
	CLEANUP(mem_close) int fd UNUSED = memory_file(bytes, size, path);
	config_init(&c);
	if (config_read(&c, path, &e) < 0) {
		HOLDS(strncmp(e.msg, path, strlen(path)) == 0);
		return 0;
	}
	check_named(&c);
	check_values(&c);
	return 0;
}
