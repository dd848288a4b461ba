// SPDX-License-Identifier: Apache-2.0
// [view NAME] on-change for a version that will end within warn-days. The facts are in the environment of the command:
// WHEELCACHE_CHANGE=ending, WHEELCACHE_VIEW, _PROJECT, _VERSION, _CAME and _ENDS (as "2026-11-20T06:00:00Z"). Any thread.
#pragma once

#include "lib/os/hook-queue.h"
#include "promoter/view-channel.h"

// Adds the command to the queue, if the view has one. previous: when the version was looked at before, seconds since
// 1970; 0: never. Nothing happens if it was within warn-days then.
void ending_hook_add(struct hook_queue *queue, const struct config_view *view, const char *project,
	const struct view_channel_version *v, int64_t previous);
