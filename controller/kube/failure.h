// Why a call of the API did not succeed: what the server said of it (metav1.Status), or what kept us from asking.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::kube {

/// Which field, and why.
struct Cause {
  std::string reason;
  std::string message;
  std::string field;
};

struct Failure {
  enum class Kind : std::uint8_t {
    kNone,
    kCredentials,  ///< none could be got, so nothing was asked
    kConnection,   ///< no connection, or one that broke
    kTimeout,
    kMalformed,  ///< an answer that cannot be understood
    kRefused,    ///< the server's answer
    kCancelled,
  };

  Kind kind = Kind::kNone;
  /// Of kRefused; also in ERROR events of a watch.
  int http = 0;
  /// As metav1.StatusReason, e.g. `Conflict`; empty where the server gave none.
  std::string reason{};
  std::string message{};
  std::vector<Cause> causes{};
  /// metav1.StatusDetails: of what.
  std::string resource_kind{}, resource_name{};
  /// Seconds that the server wants to be left alone; 0: none said.
  int retry_after = 0;

  bool none() const { return kind == Kind::kNone; }
  bool refused(int status) const { return kind == Kind::kRefused && http == status; }
  bool not_found() const { return refused(404); }
  bool already_exists() const { return refused(409) && reason == "AlreadyExists"; }
  bool conflict() const { return refused(409) && reason != "AlreadyExists"; }
  /// The resourceVersion or the continue token is too old.
  bool expired() const { return refused(410); }
  /// It may go better later.
  bool temporary() const;
  /// One line for people: reason and message, as far as there are any.
  std::string text() const;
  Error as_error() const;
};

/// What a body says that came with a status of 400 and above; a body that is no metav1.Status gives its first line.
Failure read_failure(int http, std::string_view body);

}  // namespace edge::kube
