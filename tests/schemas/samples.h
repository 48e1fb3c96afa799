// Resources made from the tables of the kinds: right ones that use every field, and ones with exactly one fault. Our
// decoder and the cluster's validator (tests/crds) must agree on each.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schemas/schema.h"

namespace edge::test {

using Json = nlohmann::ordered_json;

struct Sample {
  bool valid = false;
  /// `ProxyRoute spec.rules.retry.maxRetries: above the maximum`.
  std::string what;
  Json resource;
};

/// Whether no sample has the field: others exclude it.
bool is_left_out(const schemas::Kind& kind, std::string_view path);

/// How many resources it takes to use every field: some exclude each other.
int variants_of(const schemas::Kind& kind);
/// A resource with every field that goes together with the others of this variant.
Json full_resource(const schemas::Kind& kind, int variant);
/// The same with what is required alone.
Json least_resource(const schemas::Kind& kind, int variant);

/// `full_resource` with one scalar changed to another right value, for each scalar in it that has another.
std::vector<Sample> changed(const schemas::Kind& kind, int variant);

/// `full_resource` with one of the fields that narrow left empty: null, and for a list also without an entry. All
/// wrong.
std::vector<Sample> left_empty(const schemas::Kind& kind, int variant);

/// Right and wrong resources of every own kind.
std::vector<Sample> all_samples();

}  // namespace edge::test
