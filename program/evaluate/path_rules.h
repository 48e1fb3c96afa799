// Applies a gateway's path settings to a request before matching (base/path.h): reads them from the program, and
// prepares a request like a session does, for tools and tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::program {

inline PathRules path_rules_of(const GatewayRecord& gateway) {
  PathRules rules;
  rules.merge_slashes = (gateway.path_flags & kMergeSlashes) != 0;
  rules.reject_parameters = (gateway.path_flags & kRejectPathParameters) != 0;
  if ((gateway.path_flags & kRejectEscapedSlashes) != 0) rules.escaped_slashes = EscapedSlashes::kReject;
  if ((gateway.path_flags & kUnescapeSlashes) != 0) rules.escaped_slashes = EscapedSlashes::kUnescape;
  return rules;
}

/// A request with its path changed by the gateway of its listener; the listener is the most specific one of `bind` (an
/// index into the program's binds) for its host.
class AdmittedRequest {
 public:
  /// `request` has a normalised path, and must outlive this object.
  AdmittedRequest(const ProgramView& program, std::uint32_t bind, const RequestView& request);
  AdmittedRequest(const AdmittedRequest&) = delete;
  AdmittedRequest& operator=(const AdmittedRequest&) = delete;

  /// Whether the path is answered 400 before matching.
  bool refused() const { return refused_; }
  const RequestView& view() const { return view_; }

 private:
  std::string path_;
  RequestView view_;
  bool refused_ = false;
};

}  // namespace edge::program
