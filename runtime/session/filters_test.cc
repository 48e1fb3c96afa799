// The program's list of fields that no filter edits, held against what the codec knows of fields.
#include "program/filters.h"

#include <gtest/gtest.h>

#include "net/http1/head.h"

namespace edge::runtime {
namespace {

TEST(Filters, FramingIsOutOfTheirReach) {
  using net::http1::KnownField;
  constexpr std::string_view kNames[] = {
#define EDGE_KNOWN_FIELD(enumerator, name, traits) name,
#include "net/http1/known_fields.def"
#undef EDGE_KNOWN_FIELD
  };
  for (const std::string_view name : kNames) {
    const KnownField known = net::http1::recognise_field(name);
    const bool frames = known == KnownField::kContentLength || known == KnownField::kHost ||
                        known == KnownField::kTrailer || net::http1::always_hop_by_hop(known);
    EXPECT_EQ(program::is_reserved_field(name), frames) << name;
  }
}

}  // namespace
}  // namespace edge::runtime
