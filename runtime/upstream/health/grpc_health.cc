#include "runtime/upstream/health/grpc_health.h"

#include <cstdint>
#include <optional>

#include "base/text/protobuf_reader.h"
#include "base/text/protobuf_writer.h"

namespace edge::runtime {
namespace {

constexpr std::size_t kFrameHead = 5;
constexpr std::uint64_t kServing = 1;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

/// HealthCheckResponse.status; nullopt: malformed. Fields that we do not know are passed over.
std::optional<std::uint64_t> serving_status(std::string_view message) {
  std::uint64_t status = 0;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == 1 && !field->is_bytes) status = field->value;
  }
  if (reader.malformed()) return std::nullopt;
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
  ProtobufWriter writer;
  if (!service.empty()) writer.text(1, service);
  const std::string message = writer.take();
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
