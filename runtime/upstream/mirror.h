// Sends a mirrored copy of a request to another backend (filter RequestMirror), and discards the response.
//
// The copy is a request of its own: a relay whose client is not a socket but the feed of the original's body. It can
// neither delay nor fail the original: a copy that falls behind is abandoned.
#pragma once

#include <string_view>

#include "net/task.h"
#include "runtime/upstream/forward.h"

namespace edge::runtime {

/// Makes `copy` the mirrored copy of a request, for one more backend. `host`: its Host; empty: that of the request.
void make_copy(const ForwardRequest& original, std::string_view host, net::Time now, ForwardRequest& copy);

/// Sends the copy once, and reads the response. Both arguments must stay valid until the task has ended.
net::Task<Failure> send_copy(const ForwardRequest& copy, const ForwardFor& on_behalf);

}  // namespace edge::runtime
