// The shapes of built-in kinds as one text, which built_in.cc reads at the first use.
#pragma once

#include <string_view>

namespace edge::resource_api::objects {

/// `type Name` begins a type; each line below is a field, its type and how it merges:
///   string int number bool bytes time intstr any, Name, [T] (a list), {T} (a map)
///   map=a,b / set (lists: told apart by keys / by value; else atomic), atomic (a map or object is one value)
///   merge=a / merge (strategic merge: by key / of values), retain (retainKeys), default=x
/// `...` as a field: others are kept as they are. `kind <group or -> <Kind> <type>` names the type of a kind.
extern const std::string_view kBuiltInShapes;

}  // namespace edge::resource_api::objects
