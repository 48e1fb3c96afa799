// Compresses bodies with gzip (RFC 1952), for clients that accept it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/server/message.h"

namespace edge::net::server {

/// Returns whether an Accept-Encoding field accepts gzip, or `*`, with a weight above 0 (RFC 9110 §12.5.3).
bool takes_gzip(std::string_view accept_encoding);
/// Compresses in place, and sets Content-Encoding and Vary; a body that is encoded already, or does not shrink, stays
/// unchanged. A stream is compressed piece by piece, and its size is not announced any more.
void compress(Reply& reply);
/// Decompresses a complete body. kResourceExhausted: it is larger than `limit`, and no more than that is ever in
/// memory; kInvalidArgument: it is not valid gzip.
Result<std::string> decompress(std::string_view body, std::size_t limit);

}  // namespace edge::net::server
