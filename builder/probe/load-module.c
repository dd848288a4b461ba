// SPDX-License-Identifier: Apache-2.0
// The program wheelcache-dlopen, in which "wheelcache audit --bind" loads a module. It is linked with nothing but libc,
// so that no library of ours is among those that the module's symbols could bind to. Its arguments: a file for the
// result, "deepbind" or "-", the size that files may have, the module, and the libraries that are loaded before it.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RESULT = 1, DEEPBIND, SIZE, MODULE, FIRST_LIBRARY };

#ifndef RTLD_DEEPBIND // musl has none, and reports no bindings either
#define RTLD_DEEPBIND 0
#endif

// Returns the exit code: 0 if the result was written.
static int write_result(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	if (!f)
		return 1;
	int failed = fputs(text, f) < 0;
	return fclose(f) != 0 || failed;
}

static const char *load_all(char **argv)
{
	int deepbind = strcmp(argv[DEEPBIND], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
	for (char **library = argv + FIRST_LIBRARY; *library; library++)
		if (!dlopen(*library, RTLD_NOW | RTLD_GLOBAL))
			return dlerror();
	return dlopen(argv[MODULE], RTLD_NOW | RTLD_LOCAL | deepbind) ? "loaded" : dlerror();
}

int main(int argc, char **argv)
{
	if (argc <= MODULE) {
		fputs("wheelcache-dlopen is a part of \"wheelcache audit --bind\"\n", stderr);
		return 2;
	}
	// The loader has read these already. Programs that the module starts are not to write bindings too.
	unsetenv("LD_DEBUG");
	unsetenv("LD_DEBUG_OUTPUT");
	struct rlimit most = {.rlim_cur = strtoul(argv[SIZE], NULL, 10)};
	most.rlim_max = most.rlim_cur;
	setrlimit(RLIMIT_FSIZE, &most);
	// Without the destructors of what was loaded.
	_exit(write_result(argv[RESULT], load_all(argv)));
}
