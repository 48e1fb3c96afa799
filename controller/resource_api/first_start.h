// What is there before anyone has written: namespaces, and the definitions of our own kinds.
#pragma once

#include "base/result.h"
#include "controller/resource_api/api.h"

namespace edge::resource_api {

enum class OwnKinds { kLeft, kInstalled };

/// Puts in what is missing, and where asked for our own CustomResourceDefinitions as this version has them. Nothing is
/// written that is there already.
Status install_first_objects(Api& api, OwnKinds own);

}  // namespace edge::resource_api
