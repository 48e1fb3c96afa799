// Names that clients ask for at listeners that get certificates on demand: to be told to the controller, once each, and
// within bounds whatever clients ask for. docs/certificates.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ip.h"
#include "net/clock.h"
#include "net/tls/server.h"

namespace edge::runtime {

struct WantedName {
  std::string name_space;
  std::string secret;
  std::string host;
  bool served = false;  ///< there is a certificate, and a client has been shown it
  friend bool operator==(const WantedName&, const WantedName&) = default;
};

/// Threads: any.
class WantedNames {
 public:
  /// Names that were told, and likewise uses: those that are served leave room for new ones.
  static constexpr std::size_t kMostKnown = 4096;
  /// Names that wait to be told, as while no controller takes them, and likewise uses; the oldest gives way to the
  /// next.
  static constexpr std::size_t kMostPending = 4096;
  /// Whose names are counted; beyond, one that does not wait is forgotten.
  static constexpr std::size_t kMostClients = 4096;
  /// New names that one client (an IPv4 address, a /64 of IPv6), those of one listener, and all together may ask for in
  /// a minute. A listener's first ones are its own, whatever strangers ask for at others.
  static constexpr std::uint32_t kMostOfClient = 10;
  static constexpr std::uint32_t kMostOfListener = 120;
  static constexpr std::uint32_t kOwnOfListener = 30;
  static constexpr std::uint32_t kMostInMinute = 240;
  /// Handshakes that wait for a certificate, likewise.
  static constexpr std::uint32_t kMostWaitingOfClient = 16;
  static constexpr std::uint32_t kMostWaitingOfListener = 128;
  static constexpr std::uint32_t kOwnWaitingOfListener = 16;
  static constexpr std::uint32_t kMostWaiting = 256;
  /// Handshakes for a name wait for so long after it was told first; later ones are refused until it is told again.
  static constexpr auto kWait = std::chrono::seconds(8);
  static constexpr auto kToldAgain = std::chrono::seconds(60);
  static constexpr auto kUsedAgain = std::chrono::minutes(10);

  /// A client asks for a name without a certificate. \returns whether its handshake may wait, until now + kWait at
  /// most; then leave() is to be called.
  bool want(const net::tls::OnDemand& by, std::string_view host, const IpAddress& client, net::Time now);
  void leave(const net::tls::OnDemand& by, const IpAddress& client);
  /// A client was shown the certificate of a name.
  void use(const net::tls::OnDemand& by, std::string_view host, net::Time now);
  /// Takes what is to be told, at most `most`. A name that was asked for longer ago than kToldAgain is not: whoever
  /// asked is gone, and who asks again has it told again. Uses are told however old they are, once for each name.
  std::vector<WantedName> take(std::size_t most, net::Time now);

 private:
  struct Told {
    net::Duration again;
    std::unordered_map<std::string, net::Time> known{};  ///< by namespace, secret and host: when it was told last
    net::Time swept{};
  };
  static constexpr auto kBetweenSweeps = std::chrono::seconds(1);
  struct Asker {
    std::uint32_t asked = 0;  ///< in this minute
    std::uint32_t waiting = 0;
  };
  using Askers = std::unordered_map<std::string, Asker>;
  struct Wanted {
    WantedName name;
    net::Time told{};
  };
  void add(WantedName name, net::Time now);
  bool tell(Told& told, const net::tls::OnDemand& by, std::string_view host, net::Time now);
  void begin_minute(net::Time now);
  Asker& client_of(const IpAddress& address);
  bool is_within_rate(Asker& listener, Asker& client);

  std::mutex mutex_;
  Told names_{kToldAgain};
  Told uses_{kUsedAgain};
  Askers clients_;
  Askers listeners_;             ///< by namespace and secret
  std::deque<Wanted> wanted_;    ///< to be told, in order of time
  std::deque<WantedName> used_;  ///< likewise, each once
  net::Time minute_{};
  std::uint32_t asked_ = 0;  ///< in this minute
  std::uint32_t waiting_ = 0;
};

}  // namespace edge::runtime
