// SPDX-License-Identifier: Apache-2.0
// What the parts of one reading of a wheel's facts share (wheel-facts.h). One thread at a time.
#pragma once

#include "lib/facts/wheel-facts.h"
#include "lib/facts/wheel-oddities.h"
#include "lib/domain/archive/zipload.h"

struct wheel_reading {
	struct wheel_facts *out;
	struct zipdirectory zip;
	struct zipload *load; // borrowed
	struct wheel_oddities oddities;
	struct str folder;      // "<name>-<version>.dist-info"
	uint64_t unpacked_left; // bytes that may still be unpacked
};

void wheel_reading_release(struct wheel_reading *r); // for CLEANUP
// Notes that the facts are not complete, with the first reason.
void wheel_reading_cut(struct wheel_reading *r, const char *why);
// How many bytes of a wheel of this size may be unpacked. More of a small file would be a bomb.
uint64_t wheel_reading_most(uint64_t size);
// Counts the bytes that will be unpacked. ERR_LIMIT: they are too many.
int wheel_reading_spend(struct wheel_reading *r, uint64_t size, struct err *e) MUST_CHECK;
// Loads a member of at most `most` bytes; *bytes is valid until the next call. ERR_LIMIT and ERR_INVALID concern the
// member; ERR_IO the wheel.
int wheel_reading_load(struct wheel_reading *r, const struct zipmember *m, uint64_t most, struct str *bytes,
	struct err *e) MUST_CHECK;
