// Compares and merges objects by their schema, for server-side apply.
//
// A value is a leaf (scalars, atomic lists and maps), a map with separate fields, or a list whose items are identified
// by key (list type map) or by value (set). Without a schema, maps are maps and lists are leaves.
#pragma once

#include <string>

#include "controller/resource_api/objects/field_set.h"
#include "controller/resource_api/objects/schema.h"

namespace edge::resource_api::objects {

/// Returns all fields of an object.
FieldSet fields_of(const Schema& schema, const Json& object);

struct Comparison {
  FieldSet added, removed, modified;
};
Comparison compare(const Schema& schema, const Json& before, const Json& after);

/// Returns `object` with `intent` merged into it: fields of either, list items in the order of the intent, the rest
/// preserved.
Json merged(const Schema& schema, const Json& object, const Json& intent);

/// Returns `object` without the members of `removed`. What becomes empty is removed too, except the members of `kept`.
Json without_fields(const Schema& schema, const Json& object, const FieldSet& removed, const FieldSet& kept = {});

/// Adds to a set the fields on the paths to its members that the schema names: they exist with their contents.
FieldSet with_named_fields(const Schema& schema, const FieldSet& set);

/// Returns why items of a list cannot be identified (an item without its keys, duplicates); empty: no error.
std::string list_fault(const Schema& schema, const Json& object);

}  // namespace edge::resource_api::objects
