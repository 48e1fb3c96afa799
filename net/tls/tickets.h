// The keys of session tickets (RFC 5077, RFC 8446 §4.6.1): one for new tickets, older ones to decrypt earlier tickets.
// In memory only and deleted in time, so that tickets cannot be decrypted later.
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

/// Shared by all threads; threads: any. Used by handshakes only, never by requests.
class TicketKeys {
 public:
  static constexpr Duration kRotation = std::chrono::hours(1);
  /// Older tickets may be rejected; younger ones are accepted.
  static constexpr Duration kLifetime = 2 * kRotation;

  /// `clock` must outlive this object; null: the steady clock.
  explicit TicketKeys(const Clock* clock = nullptr);
  ~TicketKeys();
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;

  /// Returns the key for new tickets. nullopt when the system provides no random bytes.
  std::optional<TicketKey> current();
  struct Found {
    TicketKey key;
    bool current = false;
  };
  /// Returns the key that a ticket names.
  std::optional<Found> find(std::span<const std::uint8_t> name);

 private:
  void rotate(Time now);

  /// The current key and the two before it.
  static constexpr std::size_t kKept = 3;
  const Clock* clock_;
  std::mutex mutex_;
  std::array<TicketKey, kKept> keys_;
  std::size_t count_ = 0;
  Time made_{};
};

}  // namespace edge::net::tls
