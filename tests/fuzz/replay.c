// SPDX-License-Identifier: Apache-2.0
// A replacement for libFuzzer: runs the target with each file of its corpus, which it finds by the name of the program.
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/os/fs.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 1 << 20 };

// Copies the input to a block of exactly its size, so that ASan detects reads beyond its end.
static void run_target(struct str input)
{
	CLEANUP(mem_free) char *copy = xmalloc(input.len);
	memcpy(copy, input.ptr, input.len);
	LLVMFuzzerTestOneInput((const uint8_t *)copy, input.len);
}

static bool replay_file(const char *folder, const char *name)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf input;
	buf_init(&input, INPUT_MAX);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, name);
	fprintf(stderr, "%s\n", name);
	if (fs_read_file(path, &input, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return false;
	}
	run_target(buf_view(&input));
	return true;
}

// "fuzz-version" has the corpus "version".
static char *own_folder(void)
{
	const char *srcdir = getenv("srcdir"), *dash = strchr(program_invocation_short_name, '-');
	return xasprintf("%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", dash ? dash + 1 : "");
}

int main(int argc, char **argv)
{
	CLEANUP(mem_free) char *folder = argc > 1 ? xstrdup(argv[1]) : own_folder();
	struct dirent **entry;
	int count = scandir(folder, &entry, NULL, alphasort), read = 0;
	bool good = true;
	for (int i = 0; i < count; i++) {
		bool is_input = entry[i]->d_name[0] != '.';
		good = (!is_input || replay_file(folder, entry[i]->d_name)) && good;
		read += is_input;
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
	fprintf(stderr, "%s: %d inputs\n", folder, read);
	return good && read > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
