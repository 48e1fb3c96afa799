// HTTP in plain text on a port that speaks TLS: its client is answered 400, with words that say so.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/socket.h"

namespace edge::runtime {

class Worker;

/// The access log's word.
inline constexpr std::string_view kPlainHttp = "plain-http";

enum class PlainHttp : std::uint8_t {
  kNo,
  kPerhaps,  ///< as far as it has come
  kYes,
};
/// Whether a connection begins as a request of HTTP/1 does: by a method of capital letters and a space.
PlainHttp begins_as_http(std::string_view bytes);

/// Sends the answer, as far as it goes at once, and takes what the client has sent. The caller closes.
void refuse_plain_http(Worker& worker, int client, bool hides_reasons);

}  // namespace edge::runtime
