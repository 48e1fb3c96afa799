// What is recorded during an exchange for the access log of its gateway. Exchanges without a log have a null pointer in
// its place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "net/clock.h"
#include "net/socket.h"
#include "program/format/format.h"

namespace edge::runtime {

class LogFormat;

class Notes {
 public:
  /// Texts of a request's head that outlive it.
  enum class Text : std::uint8_t { kMethod, kHost, kPath, kQuery, kReferer, kUserAgent };
  static constexpr std::size_t kTexts = 6;

  Notes(const LogFormat& wanted, const program::GatewayRecord& of) : format(&wanted), gateway(&of) {}

  /// Stores a text, cut to what a line takes. Values in queries, and in that of a referrer, that look like secrets are
  /// left out.
  void keep(Text which, std::string_view text);
  std::string_view text(Text which) const {
    const Piece& piece = pieces_[static_cast<std::size_t>(which)];
    return {(piece.outside ? outside_.data() : inside_.data()) + piece.at, piece.size};
  }

  void try_begins(net::Time now) {
    try_at = now;
    connected_at = answered_at = {};
  }
  void connected(net::Time now, const net::SocketAddress& to) {
    connected_at = now;
    endpoint = to;
  }

  const LogFormat* format;
  /// Of the program that the exchange pins.
  const program::GatewayRecord* gateway;
  /// Null: none takes the request.
  const program::ListenerRecord* listener = nullptr;
  IpAddress client;
  // Steps that were not reached stay at zero; of several tries the last counts.
  net::Time head_at{};     ///< the head was whole
  net::Time decided_at{};  ///< the rule is known, and its policies let the request pass
  net::Time try_at{};
  net::Time connected_at{};
  net::Time answered_at{};  ///< the head of the answer came
  /// Port 0: none was found.
  net::SocketAddress endpoint{};

 private:
  /// Texts of most requests are no longer together, so that one allocation holds it all.
  static constexpr std::size_t kInside = 512;
  struct Piece {
    std::uint16_t at = 0;
    std::uint16_t size = 0;
    bool outside = false;
  };
  std::uint16_t used_ = 0;
  std::array<char, kInside> inside_;
  /// What did not go in.
  std::string outside_;
  std::array<Piece, kTexts> pieces_{};
};

}  // namespace edge::runtime
