// The initial objects: namespaces, and the definitions of the product's kinds.
#pragma once

#include "base/result.h"
#include "controller/resource_api/api.h"

namespace edge::resource_api {

enum class OwnKinds { kLeft, kInstalled };

/// Creates missing objects, and if requested the CustomResourceDefinitions of this version. Writes nothing that exists
/// already in the same form.
Status install_first_objects(Api& api, OwnKinds own);

}  // namespace edge::resource_api
