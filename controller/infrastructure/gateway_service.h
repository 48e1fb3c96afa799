// The Service of a Gateway that asks for one by `spec.infrastructure`, and its EndpointSlices, as objects of the API.
// A Service without a selector: its endpoints are the Gateway's addresses, which agents hold.
//
//   Gateway, LinkedConfig -> GatewayService -> objects -> ServiceQueue -> ServiceWriter -> API
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/resource_id.h"

namespace edge::controller {

/// The well-known label of what is created for a Gateway (GEP-1762): the Gateway's name.
inline constexpr std::string_view kGatewayNameLabel = "gateway.networking.k8s.io/gateway-name";

struct ServicePort {
  std::uint16_t number = 0;
  bool datagrams = false;  ///< UDP; otherwise TCP
  friend auto operator<=>(const ServicePort&, const ServicePort&) = default;
};

struct GatewayService {
  ResourceId gateway;
  std::string uid;         ///< of the Gateway
  std::string class_name;  ///< of its GatewayClass
  std::string controller;  ///< whose class it is
  /// Of spec.infrastructure.
  std::map<std::string, std::string> labels{}, annotations{};
  /// Of the listeners that are served, ascending. Empty: a Service that there is stays as it is, without endpoints.
  std::vector<ServicePort> ports{};
  /// Of the Gateway, ascending. Those that no EndpointSlice may have are left out.
  std::vector<IpAddress> addresses{};
};

/// An object as it is to be.
struct MadeObject {
  ResourceId key;
  std::string text;  ///< JSON; empty: it is left as it is where there is one
};

/// `GATEWAY-CLASS`, as GEP-1762 has it; what no Service may be called is shortened, with a hash of the whole.
std::string service_name(std::string_view gateway, std::string_view class_name);
/// The Service and a slice for each family of addresses. Equal services give equal texts.
std::vector<MadeObject> objects_of(const GatewayService& service);

/// What an object of the API says about who made it.
struct MadeFor {
  std::string controller;  ///< empty: somebody else made it
  std::string gateway;     ///< its name; empty: it has no such label
};
MadeFor made_for(std::string_view text);
/// The merge patch that makes `text`, an object of the API, into `made`; empty: it is already so. What others have
/// added stays. Conditional on the version of `text`.
std::string patch_of(std::string_view text, std::string_view made);

}  // namespace edge::controller
