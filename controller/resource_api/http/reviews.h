// Questions about users that are asked by creating an object and never kept: what may one do, and who am I.
#pragma once

#include <optional>

#include "controller/resource_api/api.h"
#include "controller/resource_api/http/access.h"

namespace edge::resource_api::http {

/// One resource of the two groups, for discovery.
struct ReviewType {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = false;
};
std::span<const ReviewType> review_types();

/// nullopt: it is none of these. `what` is the request's, which the user may do.
std::optional<ApiReply> answer_review(const ApiRequest& request, const Attributes& what);

}  // namespace edge::resource_api::http
