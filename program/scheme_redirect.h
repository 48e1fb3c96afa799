// Rule D9: redirects plain-text requests to another scheme. Part of a program's semantics, like filters.h: the runtime
// and the tools that describe a program's effects run the same code.
#pragma once

#include <optional>
#include <string_view>

#include "program/filters.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::program {

struct PlainRequest {
  /// As sent by the client, with its port.
  std::string_view authority;
  /// As sent, and normalised for rules: exclusions apply to the latter.
  std::string_view path;
  std::string_view normal_path;
  std::string_view query;
  bool has_query = false;
};

/// Returns the redirect; nullopt when the request's path is excluded. The caller checks that the request is in plain
/// text.
std::optional<Redirect> scheme_redirect(const SectionView& listeners, const SchemeRedirectRecord& settings,
                                        const PlainRequest& request);

}  // namespace edge::program
