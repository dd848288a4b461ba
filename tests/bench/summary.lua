-- SPDX-License-Identifier: Apache-2.0
-- What wrk saw, for load.py: exact, where wrk itself prints rounded figures.
done = function(summary, latency, requests)
	local e = summary.errors
	io.write(string.format(
		'\n{"requests": %d, "bytes": %d, "us": %d, "bad_status": %d, "broken": %d}\n',
		summary.requests, summary.bytes, summary.duration, e.status, e.connect + e.read + e.write + e.timeout))
end
