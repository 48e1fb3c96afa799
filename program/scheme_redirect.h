// Rule D9: a request in plain text is sent to the same place under another scheme. Part of a program's meaning, as
// filters.h: the runtime serves by it, and tools that say what a program does run the same code.
#pragma once

#include <optional>
#include <string_view>

#include "program/filters.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::program {

struct PlainRequest {
  /// As the client named it, with its port.
  std::string_view authority;
  /// As it was sent, and as rules see it: exclusions are about the latter.
  std::string_view path;
  std::string_view normal_path;
  std::string_view query;
  bool has_query = false;
};

/// Where the request belongs; nullopt when its path is excluded. Whether it is in plain text is for the caller to know.
std::optional<Redirect> scheme_redirect(const SectionView& listeners, const SchemeRedirectRecord& settings,
                                        const PlainRequest& request);

}  // namespace edge::program
