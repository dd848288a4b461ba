// SPDX-License-Identifier: Apache-2.0
// What a thread reuses for the facts of many wheels (wheel-facts.h); for the files of wheel-facts alone.
#pragma once

#include "lib/domain/archive/zipload.h"
#include "lib/format/compress.h"

struct wheel_reader {
	struct zipload load;
	struct compress *pack;
};
