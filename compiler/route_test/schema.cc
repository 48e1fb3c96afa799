#include "compiler/route_test/schema.h"

namespace edge::compiler::route_test {
namespace {

using schemas::Field;
using schemas::Format;
using schemas::Object;

constexpr std::uint32_t kMaxHeaders = 200;
constexpr std::uint32_t kMaxCases = 100'000;

constexpr Field kHeaderFields[] = {
    schemas::string("name", "Field name").as(Format::kHeaderName).needed(),
    schemas::string("value", "Field value").as(Format::kHeaderValue).needed(),
};
constexpr Object kHeader{kHeaderFields};

constexpr Field kClaimFields[] = {
    schemas::string("name", "Name of the claim").needed(),
    schemas::string("value", "Its text, or an element").needed(),
};
constexpr Object kClaim{kClaimFields};

constexpr Field kRequestFields[] = {
    schemas::string("method", "Method").as(Format::kMethod).defaults_to("GET"),
    schemas::string("url", "`http://host:port/path?query`").needed(),
    schemas::objects("headers", kHeader, "Header fields").at_most(kMaxHeaders),
    schemas::objects("claims", kClaim,
                     "Claims of its token, as if that had been verified; of several of one name, the "
                     "elements of a list")
        .at_most(kMaxHeaders),
    schemas::string("source", "Address of the client").as(Format::kIp).defaults_to("127.0.0.1"),
    schemas::integer("port", "Port that it comes in on (default: the URL's)").within(1, 65535),
};
constexpr Object kRequest{kRequestFields};

constexpr Field kExpectFields[] = {
    schemas::integer("status", "Status of the proxy's own answer; a backend answers where it is 0").within(0, 599),
    schemas::string("location", "Location of a redirect"),
    schemas::string("reason", "The word in X-Edge-Reason of an own answer"),
    schemas::string("listener", "Listener that takes it").as(Format::kLabel),
    // Names without a format: what stands for an Ingress's host is the route `namespace/name:host`, a Service that a
    // foreign kind names is the backend `namespace/name:port`.
    schemas::string("route", "Route that takes it"),
    schemas::integer("rule", "Index of its rule").within(0, 65535),
    schemas::integer("match", "Index of the rule's match").within(0, 65535),
    schemas::strings("policies", "Exactly the policies that it passes, in their order, as `Type namespace/name`")
        .at_most(100),
    schemas::string("backend", "The one backend that takes it"),
    schemas::strings("backends", "Exactly the backends that may take it; `unresolved` for a share that is answered 500")
        .at_most(1000),
    schemas::string("path", "Path that the backend sees"),
    schemas::string("host", "Host that the backend sees"),
    schemas::objects("headers", kHeader, "Fields that the backend sees").at_most(kMaxHeaders),
    schemas::strings("absentHeaders", "Fields that it does not see").as(Format::kHeaderName).at_most(kMaxHeaders),
    schemas::objects("responseHeaders", kHeader, "Fields that filters give the response").at_most(kMaxHeaders),
    schemas::strings("removedResponseHeaders", "Fields that filters take from it")
        .as(Format::kHeaderName)
        .at_most(kMaxHeaders),
};
constexpr Object kExpect{kExpectFields};

constexpr Field kCaseFields[] = {
    schemas::string("name", "What it shows"),
    schemas::object("request", kRequest, "The request").needed(),
    schemas::object("expect", kExpect, "What becomes of it; what is not named is not asked").needed(),
};
constexpr Object kCase{kCaseFields};

constexpr Field kDocumentFields[] = {
    schemas::string("apiVersion", "").needed(),
    schemas::string("kind", "").needed(),
    schemas::anything("metadata", ""),
    schemas::objects("tests", kCase, "The tests").at_most(kMaxCases).needed(),
};

}  // namespace

const Object kDocument{kDocumentFields};

}  // namespace edge::compiler::route_test
