// Formats objects for responses: in the requested version, complete, as rows of a Table or as metadata only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/resource_api/api.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/registry.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

/// Returns the object with apiVersion and kind.
objects::Json object_json(const Object& object, const ResourceType& type);
/// Returns the same as text, mostly without parsing.
std::string object_text(const Object& object, const ResourceType& type);

/// Converts a client's object to the stored form: for events of the newer group, to the core group's names. Conversion
/// of custom kinds is None: their versions differ in apiVersion only.
void to_stored_form(const ResourceType& type, objects::Json& object);
void from_stored_form(const ResourceType& type, objects::Json& object);

/// Returns one object in the requested form. `now`: seconds since 1970, for ages.
std::string answer_text(const Object& object, const ResourceType& type, const Form& form, std::int64_t now,
                        bool with_columns = true);

/// Builds the text of a list, object by object.
class ListText {
 public:
  ListText(const ResourceType& type, const Form& form, std::int64_t now) : type_(type), form_(form), now_(now) {}
  void add(const Object& object);
  std::size_t bytes() const { return items_.size(); }
  /// `remaining` below 0: omitted.
  std::string finish(std::int64_t version, std::string_view continued, std::int64_t remaining) const;

 private:
  const ResourceType& type_;
  const Form& form_;
  std::int64_t now_;
  std::string items_{};
};

/// Returns a bookmark: an object of the form with only its version. `initial_end`: it ends the initial events.
std::string bookmark_text(const ResourceType& type, const Form& form, std::int64_t version, bool initial_end);

ApiReply reply_of(int status, std::string body);
ApiReply reply_of(const objects::StatusError& error);

}  // namespace edge::resource_api
