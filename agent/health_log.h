// What is amiss now with backends, certificates and listeners, and the lines that tell of what has become so or is so
// no more: a line for a change, none for what stays.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/session/server.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

/// One thing that is amiss.
struct Trouble {
  std::string subject;  ///< `endpoint 10.0.0.1:80 of backend shop/cart`
  std::string text;     ///< a sentence that begins with the subject
  std::chrono::system_clock::time_point since{};
};

/// Of one thread at a time.
class HealthLog {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  /// A certificate that ends within so long is amiss; the alert `EdgeCertificateExpires` has the same bound.
  static constexpr auto kNearEnd = std::chrono::days(14);
  /// Lines of one minute; what is over it is counted, and told in one line after the minute.
  static constexpr std::size_t kMostLines = 60;
  /// What is listed; the rest is counted.
  static constexpr std::size_t kMostListed = 200;

  struct Facts {
    std::span<const runtime::BackendStatus> backends;
    std::span<const runtime::CertificateExpiry> certificates;
    std::span<const runtime::UnboundListener> unbound;
  };
  /// \returns a line for each thing that is another than at the look before. What is amiss at the first look is new.
  std::vector<std::string> look(const Facts& facts, WallTime now);

  struct Troubles {
    std::vector<Trouble> listed;  ///< ascending by subject
    std::size_t more = 0;
  };
  Troubles troubles() const;

 private:
  /// What is amiss with one subject.
  struct State {
    std::string kind;    ///< another kind of the same subject is another trouble
    std::string text;    ///< told when it begins
    std::string mended;  ///< told when it ends
    bool told_elsewhere = false;
    WallTime since{};
  };
  using States = std::map<std::string, State>;  ///< by subject

  /// Of a backend, at the last look.
  struct Counters {
    std::uint64_t connects = 0;
    std::uint64_t connect_failures = 0;
    std::uint64_t circuit_opened = 0;
    bool fails = false;  ///< no connection succeeded when any was tried last
    bool seen = false;   ///< in this look
  };

  void add_backend(const runtime::BackendStatus& backend, States& states, std::vector<std::string>& lines);
  std::vector<std::string> bounded(std::vector<std::string> lines, WallTime now);

  States states_;
  std::map<std::uint64_t, Counters> counters_;  ///< by the backend's id
  WallTime minute_{};
  std::size_t lines_ = 0;  ///< of this minute
  std::uint64_t held_back_ = 0;
};

}  // namespace edge::agent
