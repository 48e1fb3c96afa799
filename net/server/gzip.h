// Bodies to gzip (RFC 1952), for clients that ask for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/server/message.h"

namespace edge::net::server {

/// Whether an Accept-Encoding field names gzip, or anything, with a weight above 0 (RFC 9110 §12.5.3).
bool takes_gzip(std::string_view accept_encoding);
/// In place, with Content-Encoding and Vary; a body that has a coding already, or does not shrink, is left alone. A
/// stream is compressed piece by piece as it is asked for, and its size is announced no more.
void compress(Reply& reply);
/// A body that a client has compressed, whole. kResourceExhausted: it holds more than `limit`, of which no more than
/// that is ever in memory; kInvalidArgument: it is no gzip, or not to its end.
Result<std::string> decompress(std::string_view body, std::size_t limit);

}  // namespace edge::net::server
