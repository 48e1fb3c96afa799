// create, update and patch: from a body to a change, or an error.
#pragma once

#include <string>
#include <vector>

#include "controller/resource_api/api.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/storage/changes.h"

namespace edge::resource_api {

class Writer {
 public:
  Writer(Changes& changes, const ApiLimits& limits) : changes_(changes), limits_(limits) {}

  /// 201. 404 when the namespace does not exist, 409 when the name is taken.
  ApiReply create(const Operation& op, const ApiRequest& request);
  /// 200. 409 when the resourceVersion is not that of the object.
  ApiReply update(const Operation& op, const ApiRequest& request);
  /// 200; 201 when an apply created the object.
  ApiReply patch(const Operation& op, const ApiRequest& request);

 private:
  struct Draft;
  using Fault = std::optional<objects::StatusError>;

  ApiReply apply(const Operation& op, const ApiRequest& request, Draft& draft);
  ApiReply begin_new(Draft& draft);
  Fault name_new(Draft& draft);
  Fault check_namespace(const Operation& op);
  ApiReply change(Draft& draft);
  Fault check_identity(Draft& draft);
  ApiReply finish(Draft& draft);
  void complete(Draft& draft);
  Fault check_fields(Draft& draft);
  Fault validate(const Draft& draft);
  ApiReply save(Draft& draft);
  ApiReply reply(const Draft& draft, const Object& object, int status) const;

  Changes& changes_;
  const ApiLimits& limits_;
};

}  // namespace edge::resource_api
