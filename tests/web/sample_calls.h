// A request for each call of the API that is answered 200, with objects that exist.
#pragma once

#include <string>

#include "edgectl/web/api/call_table.h"
#include "tests/web/world.h"

namespace edge::test {

/// Of a request that tests send with a traceparent.
inline constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The path of a call with something that exists for each parameter.
std::string path_for(const edgectl::web::Call& call);
/// What is posted to it.
std::string body_for(WebWorld& world, const edgectl::web::Call& call);
/// Calls that are posted because of their body, and change nothing.
bool only_reads(const edgectl::web::Call& call);

}  // namespace edge::test
