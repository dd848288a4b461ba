// SPDX-License-Identifier: Apache-2.0
#include "cli/common/command.h"
#include "lib/audit/platform-offer.h"
#include "lib/base/limits.h"

static int run_provides(void *self, struct err *e)
{
	struct session *s = self;
	CLEANUP(platform_offer_cleanup) struct platform_offer *offer = NULL;
	CLEANUP(buf_release) struct buf list = buf_up_to(LIMIT_OFFER_LIST);
	if (s->words != 1)
		return err_set(e, ERR_USAGE, "expected one ROOT: a root folder, or a list");
	if (platform_offer_open(s->word[0], &offer, e) < 0 || platform_offer_print(offer, &list, e) < 0)
		return -1;
	buf_str(&s->out, buf_view(&list));
	return 0;
}

const struct command command_provides = {
	.name = "provides",
	.arguments = "ROOT",
	.help = "print the libraries that a machine offers to wheels",
	.run = run_provides,
};
