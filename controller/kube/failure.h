// Why a call to the API failed: the server's metav1.Status, or a local cause.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::kube {

/// The field, and the reason.
struct Cause {
  std::string reason;
  std::string message;
  std::string field;
};

struct Failure {
  enum class Kind : std::uint8_t {
    kNone,
    kCredentials,  ///< no credentials, so nothing was sent
    kConnection,   ///< no connection, or it was lost
    kTimeout,
    kMalformed,  ///< the response cannot be parsed
    kRefused,    ///< the server returned an error
    kCancelled,
  };

  Kind kind = Kind::kNone;
  /// For kRefused; also in ERROR events of a watch.
  int http = 0;
  /// A metav1.StatusReason such as `Conflict`; empty where the server gave none.
  std::string reason{};
  std::string message{};
  std::vector<Cause> causes{};
  /// metav1.StatusDetails: the object concerned.
  std::string resource_kind{}, resource_name{};
  /// Seconds to wait as requested by the server; 0: not stated.
  int retry_after = 0;

  bool none() const { return kind == Kind::kNone; }
  bool refused(int status) const { return kind == Kind::kRefused && http == status; }
  bool not_found() const { return refused(404); }
  bool already_exists() const { return refused(409) && reason == "AlreadyExists"; }
  bool conflict() const { return refused(409) && reason != "AlreadyExists"; }
  /// The resourceVersion or the continue token is too old.
  bool expired() const { return refused(410); }
  /// Whether a retry may succeed.
  bool temporary() const;
  /// Returns one line for users: reason and message, if any.
  std::string text() const;
  Error as_error() const;
};

/// Parses the body of a response with status 400 and above; a body that is not a metav1.Status gives its first line.
Failure read_failure(int http, std::string_view body);

}  // namespace edge::kube
