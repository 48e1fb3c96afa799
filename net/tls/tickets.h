// The keys that session tickets are sealed with (RFC 5077, RFC 8446 §4.6.1): one for new tickets, older ones to open
// what was given out before. Kept in memory alone and forgotten in time, so that a ticket cannot be opened later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "net/clock.h"

namespace edge::net::tls {

struct TicketKey {
  std::array<std::uint8_t, 16> name{};
  std::array<std::uint8_t, 32> aes{};
  std::array<std::uint8_t, 32> mac{};
};

/// Shared by the threads; any may call. Taken by handshakes alone, never by requests.
class TicketKeys {
 public:
  static constexpr Duration kRotation = std::chrono::hours(1);
  /// Tickets that are older than this may not be accepted any more; younger ones are.
  static constexpr Duration kLifetime = 2 * kRotation;

  /// `clock` must outlive it; null: the steady clock.
  explicit TicketKeys(const Clock* clock = nullptr);
  ~TicketKeys();
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;

  /// What a new ticket is sealed with. nullopt when the system gives no random bytes.
  std::optional<TicketKey> current();
  struct Found {
    TicketKey key;
    bool current = false;
  };
  /// The key of a ticket that names it.
  std::optional<Found> find(std::span<const std::uint8_t> name);

 private:
  void rotate(Time now);

  /// The current one and the two before it.
  static constexpr std::size_t kKept = 3;
  const Clock* clock_;
  std::mutex mutex_;
  std::array<TicketKey, kKept> keys_;
  std::size_t count_ = 0;
  Time made_{};
};

}  // namespace edge::net::tls
