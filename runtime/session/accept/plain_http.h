// Plain-text HTTP on a TLS port: answered with 400 and an explanation.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/socket.h"

namespace edge::runtime {

class Worker;

/// The reason in the access log.
inline constexpr std::string_view kPlainHttp = "plain-http";

enum class PlainHttp : std::uint8_t {
  kNo,
  kPerhaps,  ///< the bytes so far do not tell
  kYes,
};
/// Returns whether a connection begins as an HTTP/1 request does: with a method of capital letters and a space.
PlainHttp begins_as_http(std::string_view bytes);

/// Sends the answer, as far as possible without waiting, and discards what the client has sent. The caller closes the
/// connection.
void refuse_plain_http(Worker& worker, int client, bool hides_reasons);

}  // namespace edge::runtime
