// What two controllers say to each other (schemas/remote.proto), as values: bounded and checked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace edge::remote::v1 {
class Message;
}  // namespace edge::remote::v1

namespace edge::controller::remote {

/// Versions of schemas/remote.proto.
inline constexpr std::uint32_t kNewestProtocol = 1;
inline constexpr std::uint32_t kOldestProtocol = 1;

/// Of one message but a Frame, encoded.
inline constexpr std::size_t kMaxWordBytes = 64 << 10;
inline constexpr std::size_t kMaxFrameBytes = 1 << 20;

/// How often both sides probe, and after which silence each gives the other up.
struct Heartbeat {
  std::chrono::milliseconds interval = std::chrono::seconds(10);
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};
/// Within what both sides bear: an interval of at least 100 ms, a timeout of at least twice that; at most an hour.
Heartbeat bounded(Heartbeat asked);

struct Hello {
  std::uint32_t protocol = kNewestProtocol;  ///< of what was read: the newest that both speak
  std::string cluster_uid;
  std::string version;
  Heartbeat heartbeat{};  ///< of the hub
  friend bool operator==(const Hello&, const Hello&) = default;
};
struct Probe {
  std::uint64_t number = 0;
  std::uint64_t answered = 0;
  friend bool operator==(const Probe&, const Probe&) = default;
};
struct ProbeReply {
  std::uint64_t number = 0;
  friend bool operator==(const ProbeReply&, const ProbeReply&) = default;
};
struct Report {
  std::uint32_t agents = 0;
  std::uint32_t ready = 0;
  std::string program{};
  std::chrono::milliseconds lag{};
  friend bool operator==(const Report&, const Report&) = default;
};
struct Trust {
  std::string authorities;
  friend bool operator==(const Trust&, const Trust&) = default;
};
struct Leaving {
  friend bool operator==(const Leaving&, const Leaving&) = default;
};
/// Of one cluster: services by what its gateway is asked for, with how much of each is healthy, 0 to 100.
struct Exports {
  static constexpr std::size_t kMostGateways = 16;
  static constexpr std::size_t kMostServices = 512;
  std::vector<std::string> gateways{};  ///< `198.51.100.7:15443`
  std::map<std::string, std::uint8_t> services{};
  friend bool operator==(const Exports&, const Exports&) = default;
};
struct ClusterNews {
  std::string cluster;
  bool gone = false;
  std::string region{};
  bool connected = false;
  std::uint64_t issued_after_ms = 0;
  Exports exports{};
  friend bool operator==(const ClusterNews&, const ClusterNews&) = default;
};
struct NewsEnd {
  friend bool operator==(const NewsEnd&, const NewsEnd&) = default;
};
/// What this version does not know.
struct Unknown {
  friend bool operator==(const Unknown&, const Unknown&) = default;
};
using Word = std::variant<Hello, Probe, ProbeReply, Report, Trust, Leaving, Exports, ClusterNews, NewsEnd, Unknown>;

/// kInvalidArgument: out of bounds; kFailedPrecondition: no protocol in common.
Result<Word> read_word(const edge::remote::v1::Message& message);
/// Unknown is no message.
void write_word(const Word& word, edge::remote::v1::Message& message);

}  // namespace edge::controller::remote
