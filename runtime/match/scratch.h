// The members of a MatchScratch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program/evaluate/abi.h"
#include "program/request.h"
#include "runtime/match/decide.h"
#include "runtime/match/regex_set.h"

namespace edge::runtime {

struct MatchScratch::Impl {
  std::vector<program::SlotValue> slots;
  /// Header slots whose fields were joined: further fields of that name are in the value already.
  std::vector<std::uint8_t> joined;
  std::vector<std::uint64_t> hits;
  std::unique_ptr<char[]> storage;
  std::size_t storage_used = 0;
  RegexScratch regex;
  std::uint64_t faults = 0;
};

/// Fills the slots of a host with the values of a request (program/evaluate/evaluate.h, SlotValues, defines them).
/// \returns false when they exceed the scratch: the request cannot be matched.
bool fill_slots(const LoadedHost& host, const program::RequestView& request, MatchScratch::Impl& scratch);

}  // namespace edge::runtime
