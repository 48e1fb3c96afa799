// Reads of records that are packed in a host section.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "program/read.h"

namespace edge::program {

/// Where the requests of an action go (rule D3).
struct Split {
  std::span<const BackendRefRecord> backends;  ///< empty: the filters answer, or 500
  std::uint32_t total_weight = 0;
  std::uint32_t canary = kNone;  ///< index into backends that `X-Canary: true` goes to; kNone without backends
};

inline Split split_of(const SectionView& host, const ActionRecord& action) {
  if (action.split == kNone) return {};
  const auto& header = host.header<HostHeader>();
  if ((action.split & kSingleBackendBit) != 0) {
    const auto single = host.array(header.backend_refs).subspan(action.split & ~kSingleBackendBit, 1);
    return {single, single[0].weight, 0};
  }
  const SplitRecord& split = host.array(header.splits)[action.split];
  return {host.array(split.backends), split.total_weight, split.canary};
}

inline std::string_view name_space_of(const SectionView& host, const RouteRecord& route) {
  return host.string(host.array(host.header<HostHeader>().namespaces)[route.name_space]);
}

}  // namespace edge::program
