#include "runtime/upstream/health/grpc_health.h"

#include <cstdint>
#include <optional>

namespace edge::runtime {
namespace {

constexpr std::size_t kFrameHead = 5;
// Protocol buffers: a tag is the field's number times eight, plus how its value is written.
constexpr unsigned kVarint = 0;
constexpr unsigned kBytes = 2;
constexpr std::uint64_t kServing = 1;

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  out += static_cast<char>(value);
}

std::optional<std::uint64_t> take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

/// HealthCheckResponse.status; nullopt: malformed. Fields that we do not know are passed over.
std::optional<std::uint64_t> serving_status(std::string_view message) {
  std::uint64_t status = 0;
  while (!message.empty()) {
    const auto tag = take_varint(message);
    if (!tag) return std::nullopt;
    const auto value = (*tag & 7) == kVarint || (*tag & 7) == kBytes ? take_varint(message) : std::nullopt;
    if (!value) return std::nullopt;
    if ((*tag & 7) == kBytes) {
      if (*value > message.size()) return std::nullopt;
      message.remove_prefix(static_cast<std::size_t>(*value));
    } else if (*tag >> 3 == 1) {
      status = *value;
    }
  }
  return status;
}

std::string_view status_text(std::uint64_t status) {
  switch (status) {
    case 2:
      return "NOT_SERVING";
    case 3:
      return "SERVICE_UNKNOWN";
    default:
      return "UNKNOWN";
  }
}

}  // namespace

std::string grpc_check_request(std::string_view service) {
  std::string message;
  if (!service.empty()) {
    put_varint(message, 1 << 3 | kBytes);
    put_varint(message, service.size());
    message += service;
  }
  std::string out(1, '\0');
  for (const unsigned shift : {24u, 16u, 8u, 0u}) out += static_cast<char>(message.size() >> shift);
  return out + message;
}

std::string grpc_check_fault(std::string_view body, std::string_view grpc_status) {
  if (grpc_status.empty()) return "no grpc-status";
  if (grpc_status != "0") return "grpc-status " + std::string(grpc_status);
  const bool framed = body.size() >= kFrameHead && body[0] == '\0' && big_endian(body.substr(1, 4)) == body.size() - 5;
  const auto status = framed ? serving_status(body.substr(kFrameHead)) : std::nullopt;
  if (!status) return "malformed answer";
  return *status == kServing ? std::string() : std::string(status_text(*status));
}

}  // namespace edge::runtime
