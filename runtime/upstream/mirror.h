// A copy of a request on its way to another backend (filter RequestMirror), whose answer is thrown away.
//
// It is a request of its own: a relay like any other, whose client is not a socket but what the original request
// sends on. So it can neither delay nor fail the original: what it does not take in time is the end of it.
#pragma once

#include "net/task.h"
#include "runtime/upstream/forward.h"

namespace edge::runtime {

/// Makes of `copy` the copy of a request for one more backend, which it is to be sent to.
void make_copy(const ForwardRequest& original, net::Time now, ForwardRequest& copy);

/// Sends it once, and reads the answer. Both arguments must live until it has ended.
net::Task<Failure> send_copy(const ForwardRequest& copy, const ForwardFor& on_behalf);

}  // namespace edge::runtime
