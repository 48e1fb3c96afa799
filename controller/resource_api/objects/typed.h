// Objects by their schema, as server-side apply sees them: which fields there are, which differ, how two merge.
//
// A value is a leaf (scalars, atomic lists and maps), a map whose fields are apart, or a list whose items are told
// apart by key (list type map) or by value (set). Where no schema says otherwise, maps are maps and lists are leaves.
#pragma once

#include <string>

#include "controller/resource_api/objects/field_set.h"
#include "controller/resource_api/objects/schema.h"

namespace edge::resource_api::objects {

/// All fields of an object.
FieldSet fields_of(const Schema& schema, const Json& object);

struct Comparison {
  FieldSet added, removed, modified;
};
Comparison compare(const Schema& schema, const Json& before, const Json& after);

/// `object` with what `intent` says on top: fields of either, items of lists in the order of the intent, the rest kept.
Json merged(const Schema& schema, const Json& object, const Json& intent);

/// `object` without the members of `removed`. What becomes empty by that goes too, but for the members of `kept`.
Json without_fields(const Schema& schema, const Json& object, const FieldSet& removed, const FieldSet& kept = {});

/// The set, with the fields on the way to its members that the schema names: they come and go with what is in them.
FieldSet with_named_fields(const Schema& schema, const FieldSet& set);

/// What keeps lists of the object from being told apart (an item without its keys, two of the same); empty: nothing.
std::string list_fault(const Schema& schema, const Json& object);

}  // namespace edge::resource_api::objects
