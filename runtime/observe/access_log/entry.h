// The data of one access log line, for an exchange or a forwarded connection. As views, or flat in the queue between
// the serving thread and the writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/ip.h"
#include "net/socket.h"

namespace edge::runtime {

class LogFormat;

enum class LogText : std::uint8_t {
  kMethod,
  kHost,
  kPath,
  kQuery,
  kReferer,
  kUserAgent,
  kReason,
  kDestination,  ///< as destination.h writes it
  kTlsVersion,
  kTlsCipher,
  kServerName,
  kRequestId,
  kTraceId,
};
inline constexpr std::size_t kLogTexts = 13;

/// The protocol as a line names it.
enum class LoggedProtocol : std::uint8_t { kHttp10, kHttp11, kHttp2, kTcp, kTls, kUdp };

/// The numbers of a line. Times in nanoseconds, -1 for a step that was not reached.
struct LogFacts {
  const LogFormat* format = nullptr;
  std::uint64_t unix_milliseconds = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  std::int64_t head = -1;
  std::int64_t policies = -1;
  std::int64_t connect = -1;
  std::int64_t answer = -1;
  std::int64_t total = -1;
  IpAddress client;
  net::SocketAddress endpoint;
  std::uint32_t attempts = 0;
  std::uint16_t client_port = 0;
  std::uint16_t status = 0;
  LoggedProtocol protocol = LoggedProtocol::kHttp11;
  bool secure = false;
};

struct LogEntry {
  LogFacts facts;
  std::array<std::string_view, kLogTexts> texts{};

  std::string_view& operator[](LogText text) { return texts[static_cast<std::size_t>(text)]; }
  std::string_view operator[](LogText text) const { return texts[static_cast<std::size_t>(text)]; }

  /// Returns the size of the flat form in bytes; a multiple of eight.
  std::size_t flat_size() const;
  /// Writes the flat form. `into` has flat_size() bytes, aligned to eight.
  void flatten(std::span<char> into) const;
  /// Returns an entry with views of the flat bytes.
  static LogEntry of(std::span<const char> flat);
};

}  // namespace edge::runtime
