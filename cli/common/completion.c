// SPDX-License-Identifier: Apache-2.0
#include "cli/common/completion.h"

#include <stdint.h>
#include <string.h>

#include "cli/common/completion-words.h"
#include "lib/base/mem.h"

static const struct {
	const char *name;
	void (*write)(const struct command *root, struct buf *out);
} shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

int completion_print(const struct command *root, const char *shell, FILE *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(shell, shells[i].name) == 0)
			shells[i].write(root, &text);
	if (!text.len)
		return err_set(e, ERR_USAGE, "--completion %s: expected bash, zsh or fish", shell);
	if (fwrite(text.data, 1, text.len, out) != text.len || fflush(out) < 0)
		return err_errno(e, ERR_IO, "cannot write the completion");
	return 0;
}
