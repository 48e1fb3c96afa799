// Any bytes as what an API server answers: objects, lists, frames of a watch, refusals, leases, credentials.
#include <cstdint>
#include <string>
#include <string_view>

#include "controller/kube/discovery.h"
#include "controller/kube/exec_plugin.h"
#include "controller/kube/lease.h"
#include "controller/kube/object.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::kube;

/// What was written is what is read, and reading it again changes nothing.
void check(const Object& object, const ObjectReading& reading) {
  const auto again = read_object(object.text, reading);
  require(again.ok());
  require(again->text == object.text);
  require(again->key() == object.key() && again->resource_version == object.resource_version);
  require(object.text.find('\n') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool managed : {false, true}) {
    const ObjectReading reading{.api_version = "a/v1", .kind = "A\"\n", .managed_fields = managed};
    if (const auto object = read_object(bytes, reading); object.ok()) check(*object, reading);
    if (const auto list = read_list(bytes, reading); list.ok()) {
      for (const Object& object : list->items) {
        require(!object.name.empty());
        check(object, reading);
      }
    }
    if (const auto event = read_event(bytes, reading); event.ok()) {
      require((event->type == EventType::kError) == !event->failure.none());
      check(event->object, reading);
    }
  }
  const Failure failure = read_failure(500, bytes);
  require(failure.http >= 400 && failure.http < 600 && !failure.text().empty());
  for (const Resource& resource : read_aggregated_discovery(bytes)) require(!resource.plural.empty());
  if (const auto lease = read_lease(bytes); lease.ok()) {
    require(lease->seconds >= 0);
    const auto again = read_lease(write_lease(bytes, "n", "a", *lease));
    require(again.ok() && again->seconds == lease->seconds);
  }
  if (const auto given = read_exec_credential(bytes, "client.authentication.k8s.io/v1"); given.ok()) {
    require(given->token.find_first_of("\r\n ") == std::string::npos);
    require(!given->token.empty() || !given->certificate.empty());
  }
  return 0;
}
