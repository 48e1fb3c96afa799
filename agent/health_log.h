// Tracks problems of backends, certificates and listeners, and returns log lines for changes: one when a problem
// begins, one when it ends.
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

/// One current problem.
struct Trouble {
  std::string subject;  ///< `endpoint 10.0.0.1:80 of backend shop/cart`
  std::string text;     ///< a sentence that begins with the subject
  std::chrono::system_clock::time_point since{};
};

/// For one thread at a time.
class HealthLog {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  /// A certificate that expires within this time is a problem; the alert `EdgeCertificateExpires` uses the same limit.
  static constexpr auto kNearEnd = std::chrono::days(14);
  /// Limit of lines per minute; further ones are counted, and reported in one line after the minute.
  static constexpr std::size_t kMostLines = 60;
  /// Limit of listed problems; the rest is counted.
  static constexpr std::size_t kMostListed = 200;

  struct Facts {
    std::span<const runtime::BackendStatus> backends;
    std::span<const runtime::CertificateExpiry> certificates;
    std::span<const runtime::UnboundListener> unbound;
  };
  /// \returns a line for each change since the last call. Problems at the first call are new.
  std::vector<std::string> look(const Facts& facts, WallTime now);

  struct Troubles {
    std::vector<Trouble> listed;  ///< ascending by subject
    std::size_t more = 0;
  };
  Troubles troubles() const;

 private:
  /// The problem of one subject.
  struct State {
    std::string kind;    ///< another kind for the same subject is another problem
    std::string text;    ///< logged when it begins
    std::string mended;  ///< logged when it ends
    bool told_elsewhere = false;
    WallTime since{};
  };
  using States = std::map<std::string, State>;  ///< by subject

  /// For a backend, at the last call.
  struct Counters {
    std::uint64_t connects = 0;
    std::uint64_t connect_failures = 0;
    std::uint64_t circuit_opened = 0;
    bool fails = false;  ///< all recent connection attempts failed
    bool seen = false;   ///< in this call
  };

  void add_backend(const runtime::BackendStatus& backend, States& states, std::vector<std::string>& lines);
  std::vector<std::string> bounded(std::vector<std::string> lines, WallTime now);

  States states_;
  std::map<std::uint64_t, Counters> counters_;  ///< by the backend's id
  WallTime minute_{};
  std::size_t lines_ = 0;  ///< in this minute
  std::uint64_t held_back_ = 0;
};

}  // namespace edge::agent
