// What is recorded during an exchange for the access log of its gateway. The pointer to it is null in exchanges without
// a log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "net/clock.h"
#include "net/socket.h"
#include "program/format/format.h"
#include "runtime/phase/endpoint_cluster.h"

namespace edge::runtime {

class LogFormat;

class Notes {
 public:
  /// Texts of a request's head that must outlive it.
  enum class Text : std::uint8_t { kMethod, kHost, kPath, kQuery, kReferer, kUserAgent };
  static constexpr std::size_t kTexts = 6;

  Notes(const LogFormat& wanted, const program::GatewayRecord& of) : format(&wanted), gateway(&of) {}

  /// Stores a text, cut to the length limit of a line. Redacts values in the query, and in the referrer's query, that
  /// look like secrets.
  void keep(Text which, std::string_view text);
  std::string_view text(Text which) const {
    const Piece& piece = pieces_[static_cast<std::size_t>(which)];
    return {(piece.outside ? outside_.data() : inside_.data()) + piece.at, piece.size};
  }

  void try_begins(net::Time now) {
    try_at = now;
    connected_at = answered_at = {};
  }
  void connected(net::Time now, const net::SocketAddress& to, const std::shared_ptr<const EndpointCluster>& of) {
    connected_at = now;
    endpoint = to;
    cluster = of;
  }

  const LogFormat* format;
  /// From the program that the exchange pins.
  const program::GatewayRecord* gateway;
  /// Null: no listener takes the request.
  const program::ListenerRecord* listener = nullptr;
  IpAddress client;
  // Steps that were not reached stay at zero; of several tries the last counts.
  net::Time head_at{};     ///< the head was complete
  net::Time decided_at{};  ///< the rule was found, and its policies let the request pass
  net::Time try_at{};
  net::Time connected_at{};
  net::Time answered_at{};  ///< the head of the response arrived
  /// Port 0: none was chosen.
  net::SocketAddress endpoint{};
  /// The other cluster that it belongs to; null: this one.
  std::shared_ptr<const EndpointCluster> cluster{};

 private:
  /// The texts of most requests are not longer than this together, so that one allocation holds everything.
  static constexpr std::size_t kInside = 512;
  struct Piece {
    std::uint16_t at = 0;
    std::uint16_t size = 0;
    bool outside = false;
  };
  std::uint16_t used_ = 0;
  std::array<char, kInside> inside_;
  /// Text for which `inside_` has no room.
  std::string outside_;
  std::array<Piece, kTexts> pieces_{};
};

}  // namespace edge::runtime
