// Plans how a group is evaluated in machine code: a split tree over exact slot values, linear in the number of rules.
//
//   f(list) = min(bucket[value of the slot], f(candidates of the list that do not test the slot))
//
// Every candidate is in one place of the tree. Copying the rest into each bucket would save a comparison and multiply
// the size by the number of buckets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/format/format.h"
#include "program/read.h"

namespace edge::compiler::emit {

/// A candidate with the tests that remain at its place in the tree: it wins when all of them hold.
struct PlannedCandidate {
  std::uint32_t index;  ///< within the group
  std::vector<std::uint32_t> tests;
};

struct Plan;

/// A list of candidates divided by one slot's exact value. Buckets ascend by (size, bytes).
struct Split {
  std::uint32_t slot;
  std::vector<std::pair<std::string_view, Plan>> buckets;
  std::unique_ptr<Plan> rest;  ///< those that do not test the slot; null when there are none
};

/// Either a split, or a short or indivisible list that is tested in order. Candidates ascend.
struct Plan {
  std::uint32_t first = 0;  ///< smallest candidate index below
  std::vector<PlannedCandidate> chain;
  std::unique_ptr<Split> split;
};

Plan plan_group(const program::SectionView& host, const program::GroupRecord& group);

/// Returns everything that a small group's code is made from, as bytes: equal bytes, equal code (`method == "POST"`
/// alone occurs on many paths). Empty when the group is too large for this.
std::string group_text(const program::SectionView& host, const program::GroupRecord& group);

/// Where to compare a value of `size` bytes: loads of `width` bytes, overlapping, never beyond the end.
struct Window {
  std::uint32_t offset;
  std::uint32_t width;
};
std::vector<Window> windows(std::size_t size);
/// The window's bytes as a little-endian number.
std::uint64_t window_word(std::string_view value, Window window);

}  // namespace edge::compiler::emit
