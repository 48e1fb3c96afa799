#include "agent/install.h"

#include <gtest/gtest.h>

#include "program/values/value_set.h"

namespace edge::agent {
namespace {

program::BackendEndpoints backend(std::uint64_t id, std::uint16_t port) {
  return {.backend_id = id, .name_space = "demo", .name = "b", .endpoints = {{.address = {}, .port = port}}};
}

TEST(United, KeepsBackendsThatGoAndTakesTheNewAddressesOfThoseThatStay) {
  const program::EndpointSet previous{{backend(1, 10), backend(2, 20)}};
  const program::EndpointSet next{{backend(2, 21), backend(3, 30)}};
  EXPECT_EQ(united(next, previous), (program::EndpointSet{{backend(1, 10), backend(2, 21), backend(3, 30)}}));
  EXPECT_EQ(united({}, previous), previous);
  EXPECT_EQ(united(next, {}), next);
}

}  // namespace
}  // namespace edge::agent
