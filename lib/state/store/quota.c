// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/quota.h"

#include "lib/base/counted.h"

// Disk space that stays free for other writers.
enum { KEPT_FREE = 1 << 20 };

static bool passes(uint64_t have, uint64_t more, uint64_t limit)
{
	return more > limit || have > limit - more;
}

int quota_check(const struct platform *p, uint64_t max_file, const struct quota_use *use, uint64_t incoming,
	struct err *e)
{
	const unsigned long long more = incoming;
	if (incoming > max_file)
		return err_set(e, ERR_LIMIT,
			"a file of %llu bytes: the limit is %llu; the operator raises it: [upload] max-file", more,
			(unsigned long long)max_file);
	if (p->quota_files && passes(use->files, 1, p->quota_files))
		return err_set(e, ERR_FULL,
			"platform %s is full: it has %s of %llu; the operator prunes it, or raises quota-files",
			p->name, COUNTED(use->files, "file|files"), (unsigned long long)p->quota_files);
	if (p->quota_bytes && passes(use->bytes, incoming, p->quota_bytes))
		return err_set(e, ERR_FULL,
			"platform %s is full: it has %llu bytes of %llu, and %llu more do not fit; the operator prunes it, or raises quota-bytes",
			p->name, (unsigned long long)use->bytes, (unsigned long long)p->quota_bytes, more);
	if (passes(KEPT_FREE, incoming, use->free))
		return err_set(e, ERR_FULL,
			"platform %s is full: its disk has %llu bytes left, and %llu more do not fit; the operator makes room",
			p->name, (unsigned long long)use->free, more);
	return 0;
}

static unsigned percent(uint64_t used, uint64_t quota)
{
	const double most = 999;
	double n = quota ? (double)used * 100 / (double)quota : 0;
	return (unsigned)(n < most ? n : most);
}

unsigned quota_percent(const struct platform *p, const struct quota_use *use)
{
	unsigned bytes = percent(use->bytes, p->quota_bytes), files = percent(use->files, p->quota_files);
	return bytes > files ? bytes : files;
}
