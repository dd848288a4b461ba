// SPDX-License-Identifier: Apache-2.0
// What a promotion does against a prune of the same moment: the prune writes a tombstone, then looks whether a view has
// the file, and takes the tombstone back; the promotion writes its generation, then looks for tombstones, and takes the
// files out of the view again. So at least one of them sees the other, without a lock. One thread at a time.
#pragma once

#include "promoter/promotion-run.h"

// Looks for tombstones of the rows that are PROMOTE_DONE, and ends the membership of those that have one. They become
// PROMOTE_REFUSED, and with all_or_nothing the others PROMOTE_HELD. step: of the further generation; its number is not
// read.
int pruned_rows_take_out(const struct site *site, struct catalog *c, const struct promotion_step *step,
	bool all_or_nothing, struct promote_answer *answer, struct err *e) MUST_CHECK;
