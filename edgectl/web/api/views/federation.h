// The federation as the dashboard shows it, from the controller's pages.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/flags.h"
#include "controller/distribute/inspect_client.h"
#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// An object by kind, namespace and name.
struct FederatedObject {
  std::string kind, name_space, name;
};

/// Every call blocks for some seconds at most, and returns one line of JSON. For one thread at a time.
class Federation {
 public:
  explicit Federation(cli::Arguments arguments) : arguments_(std::move(arguments)) {}

  /// Status, peers and conflicts without contents; `none` says why there is no federation.
  Result<std::string> overview();
  /// The versions of one object with their contents, redacted. kNotFound: there is no conflict about it.
  Result<std::string> conflict(const FederatedObject& object);
  /// `keep`: the name of the version that stays; `by`: who is logged in.
  Result<std::string> resolve(const FederatedObject& object, const std::string& keep, const std::string& by);

 private:
  Result<controller::InspectClient*> controller();
  /// Opens the connection anew at the next call where this one failed for it.
  Error forgotten(Error error);

  cli::Arguments arguments_;
  std::unique_ptr<controller::InspectClient> controller_;
};

/// Takes conflicts out that are about objects which the viewer may not list; `hidden` says how many.
std::string visible_federation(std::string json, const StoreView& view);

}  // namespace edge::edgectl::web
