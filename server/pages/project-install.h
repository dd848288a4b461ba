// SPDX-License-Identifier: Apache-2.0
// The command that installs what the page of a project shows, for a client that may read what the query may. No state: any
// thread.
#pragma once

#include "lib/view/client-config.h"
#include "server/pages/project-data.h"

// Adds the command as text, and sets the index that it names. False: no index of this server has a file of the version.
bool project_install_find(const struct project_data *d, const struct project_query *q, struct client_index *index,
	struct buf *command);
