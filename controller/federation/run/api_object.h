// An object as the cluster's API has it, for federation: what is shared of it, and what stays when others' content is
// written over it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::federation {

struct ApiObject {
  std::string content{};  ///< as content_of returns it
  std::string uid{};
  std::string resource_version{};
  std::string kept{};  ///< JSON of the metadata that is this cluster's: finalizers, owners; empty: none
  std::int64_t generation = 0;
  bool ending = false;      ///< it is deleted, and waits for its finalizers
  bool has_origin = false;  ///< it has the label of another cluster
  bool is_machine = false;  ///< is_machine_secret: never federated
};

/// Whether an object (JSON) is a Secret that programs of its cluster made for it alone: tokens, releases of Helm, what
/// the operator installs with (signing key and CA), what another cluster joins with, accounts at CAs and orders.
bool is_machine_secret(std::string_view text);

/// `text`: the object as JSON. kInvalidArgument: it is none.
Result<ApiObject> read_api_object(std::string_view text);

/// Returns what is written for the content of a version: over `now`, or as a new object where that is null.
Result<std::string> written_object(std::string_view content, std::string_view origin, const ApiObject* now);

/// An API may make something else of what it is given: it adds defaults, and drops fields that it does not know.
/// Returns `content` with the changes from `echo`, what the API made of it, to `now`: fields that this cluster does not
/// know stay as they were.
std::string changed_content(std::string_view content, std::string_view echo, std::string_view now);

}  // namespace edge::federation
