#include "net/http2/web_socket.h"

#include <array>

#include <openssl/evp.h>

#include "base/text/ascii.h"

namespace edge::net::http2 {
namespace {

/// Says that whoever answers knows what was asked for.
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

}  // namespace

std::string_view web_socket_key(const http1::RequestHead& head) {
  for (const Field& field : head.fields.all()) {
    if (equals_ignoring_case(field.name, kWebSocketKey)) return field.value;
  }
  return {};
}

std::string web_socket_accept(std::string_view key) {
  const std::string text = std::string(key).append(kGuid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<unsigned char, 4 * EVP_MAX_MD_SIZE / 3 + 4> coded{};
  const int length = EVP_EncodeBlock(coded.data(), digest.data(), static_cast<int>(size));
  return {reinterpret_cast<const char*>(coded.data()), static_cast<std::size_t>(length)};
}

}  // namespace edge::net::http2
