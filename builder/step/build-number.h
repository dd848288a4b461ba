// SPDX-License-Identifier: Apache-2.0
// Gives a built wheel a build tag (PEP 427), so that installers prefer it to one of the same version that no longer
// works. Not every build backend can be asked for one, so the wheel is written anew: its name, Build in WHEEL, and the
// hash of WHEEL in RECORD change; the bytes, times and modes of all other members stay. One thread at a time.
#pragma once

#include "builder/step/step-room.h"

// The wheel of the room, in its output folder, is replaced by the one with the tag, which has another name. The room's
// Python does it. ERR_INVALID: it failed; the log says why.
int build_number_set(struct step_room *r, unsigned number, struct err *e) MUST_CHECK;
