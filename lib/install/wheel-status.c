// SPDX-License-Identifier: Apache-2.0
#include "lib/install/wheel-status.h"

const char *const wheel_status_name[WHEEL_STATUS_COUNT] = {
	[WHEEL_NOT_WANTED] = "not-wanted",
	[WHEEL_OURS] = "ours",
	[WHEEL_COVERED] = "covered",
	[WHEEL_HERE] = "here",
	[WHEEL_UNPROMOTED] = "unpromoted",
	[WHEEL_SKIPPED] = "skipped",
	[WHEEL_UPSTREAM] = "upstream",
	[WHEEL_BUILDING] = "building",
	[WHEEL_EXCLUDED] = "excluded",
	[WHEEL_UNMERGED] = "unmerged",
	[WHEEL_COOLING] = "cooling",
	[WHEEL_UNKNOWN] = "unknown",
	[WHEEL_IMPOSSIBLE] = "impossible",
	[WHEEL_PURE] = "pure",
	[WHEEL_AWAITING] = "awaiting",
	[WHEEL_FAILED] = "failed",
	[WHEEL_MISSING] = "missing",
};

const enum wheel_status wheel_status_missing[WHEEL_STATUSES_OF_MISSING] = {WHEEL_NOT_WANTED, WHEEL_HERE, WHEEL_UNPROMOTED,
	WHEEL_SKIPPED, WHEEL_UPSTREAM, WHEEL_COOLING, WHEEL_UNKNOWN, WHEEL_IMPOSSIBLE, WHEEL_PURE, WHEEL_AWAITING,
	WHEEL_FAILED, WHEEL_MISSING};

const enum wheel_status wheel_status_shown[WHEEL_STATUSES_OF_MISSING] = {WHEEL_MISSING, WHEEL_UNPROMOTED, WHEEL_FAILED,
	WHEEL_AWAITING, WHEEL_COOLING, WHEEL_UNKNOWN, WHEEL_IMPOSSIBLE, WHEEL_PURE, WHEEL_HERE, WHEEL_UPSTREAM, WHEEL_SKIPPED,
	WHEEL_NOT_WANTED};

const enum wheel_status wheel_status_matrix[WHEEL_STATUSES_OF_MATRIX] = {WHEEL_OURS, WHEEL_COVERED, WHEEL_UPSTREAM,
	WHEEL_BUILDING, WHEEL_EXCLUDED, WHEEL_FAILED, WHEEL_UNMERGED, WHEEL_UNKNOWN, WHEEL_MISSING};

const char wheel_status_letter[WHEEL_STATUS_COUNT] = {
	[WHEEL_OURS] = 'O',
	[WHEEL_COVERED] = 'C',
	[WHEEL_UPSTREAM] = 'U',
	[WHEEL_BUILDING] = 'B',
	[WHEEL_EXCLUDED] = 'X',
	[WHEEL_FAILED] = 'F',
	[WHEEL_UNMERGED] = 'N',
	[WHEEL_UNKNOWN] = '?',
	[WHEEL_MISSING] = 'M',
};

const char *const wheel_status_text[WHEEL_STATUS_COUNT] = {
	[WHEEL_OURS] = "a wheel of ours, made for this platform",
	[WHEEL_COVERED] = "covered by a wheel of ours for any platform, for the stable ABI, or of another platform",
	[WHEEL_UPSTREAM] = "upstream has a wheel",
	[WHEEL_BUILDING] = "being built",
	[WHEEL_EXCLUDED] = "not for this Python",
	[WHEEL_FAILED] = "the build failed",
	[WHEEL_UNMERGED] = "no wheel here; upstream has one, and the index does not show it",
	[WHEEL_UNKNOWN] = "no wheel here, and what upstream has is not known",
	[WHEEL_MISSING] = "no wheel",
};

enum wheel_status wheel_status_find(struct str name, const enum wheel_status *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(name, str_from(wheel_status_name[list[i]])))
			return list[i];
	return WHEEL_STATUS_COUNT;
}

bool wheel_status_is_green(enum wheel_status status)
{
	return status == WHEEL_OURS || status == WHEEL_COVERED || status == WHEEL_UPSTREAM;
}
