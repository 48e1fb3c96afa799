// Reviews, requests about users made by creating an object that is not stored: what a user may do, and who the user is.
#pragma once

#include <optional>

#include "controller/resource_api/api.h"
#include "controller/resource_api/http/access.h"

namespace edge::resource_api::http {

/// A resource of the two review groups, for discovery.
struct ReviewType {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = false;
};
std::span<const ReviewType> review_types();

/// Answers a review; nullopt: the request is not one. `what` is the request's attributes, already authorized.
std::optional<ApiReply> answer_review(const ApiRequest& request, const Attributes& what);

}  // namespace edge::resource_api::http
