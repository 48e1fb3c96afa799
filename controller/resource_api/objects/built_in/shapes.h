// The schemas of built-in kinds as one text, which built_in.cc parses at first use.
#pragma once

#include <string_view>

namespace edge::resource_api::objects {

/// `type Name` begins a type; each line below is a field, its type and its merge rule:
///   string int number bool bytes time intstr any, Name, [T] (a list), {T} (a map)
///   map=a,b / set (lists: items identified by keys / by value; else atomic), atomic (a map or object is one value)
///   merge=a / merge (strategic merge: by key / of values), retain (retainKeys), default=x
/// `...` as a field: unknown fields are preserved. `kind <group or -> <Kind> <type>` sets the type of a kind.
extern const std::string_view kBuiltInShapes;

}  // namespace edge::resource_api::objects
