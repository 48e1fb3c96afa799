// The tests of a RequestFilter on a request's head, for agents and `explain`. docs/request-filters.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/field.h"
#include "program/evaluate/pattern.h"
#include "program/read.h"

namespace edge::program {

/// What a filter looks at. Views only.
struct FilteredHead {
  /// The one that has to be allowed: of a preflight that CORS answers, the method that it asks about.
  std::string_view method;
  std::string_view path;   ///< normalised
  std::string_view query;  ///< as it is sent
  std::span<const Field> fields;
  bool has_body = false;
  std::uint64_t body_length = 0;  ///< 0: not told
};

enum class FilterFault : std::uint8_t {
  kMethod,
  kTooManyFields,
  kFieldTooLarge,
  kFieldsTooLarge,
  kFieldPattern,
  kQueryParameters,
  kMediaType,
  kBodyTooLarge,
  kPathPattern,
  kQueryPattern,
};

/// Views point into the section, which must outlive it. Immutable; testing is thread-safe.
class HeadFilter {
 public:
  HeadFilter(const SectionView& policies, const RequestFilterRecord& settings);

  /// Whether each pattern can be searched for. Otherwise some are never found.
  bool usable() const { return usable_; }
  /// Returns the first fault. Linear in the head for each pattern.
  std::optional<FilterFault> fault_of(const FilteredHead& head) const;
  /// Whether it looks at fields.
  bool limits_fields() const;
  /// Those that are allowed, ascending; empty: all.
  const std::vector<std::string_view>& methods() const { return methods_; }

 private:
  struct Named {
    std::string_view name;  ///< empty: every field
    PatternSet patterns;
  };
  std::optional<FilterFault> fault_of_fields(std::span<const Field> fields) const;
  bool takes_type(std::span<const Field> fields) const;

  RequestFilterRecord settings_;
  std::vector<std::string_view> methods_;
  std::vector<std::string_view> content_types_;
  PatternSet paths_;
  PatternSet queries_;
  std::vector<Named> headers_;  ///< by name, each once
  bool usable_ = true;
};

/// The texts of a list of the section.
std::vector<std::string_view> texts_of(const SectionView& section, ArrayRef<StringRef> refs);

/// With percent-encoded bytes decoded, once, and with `+` as a space where `query`. What is no encoding stays.
std::string percent_decoded(std::string_view text, bool query);

}  // namespace edge::program
