// For tests of authentication policies: a place to work in, a section that holds one record, and requests that are
// asked one after another.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client/http_client.h"
#include "net/tls/record_layer.h"
#include "program/format/records.h"
#include "program/section_builder.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/stores.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::runtime::auth::testing {

class TestAuthContext {
 public:
  /// Seconds since 1970.
  static constexpr std::int64_t kNow = 1'800'000'000;

  Stores stores;
  std::int64_t unix_now = kNow;

  /// What the policy says of a request whose head is `lines`. Each has a loop of its own: one that was stopped stays
  /// so.
  template <typename Policy>
  AuthResult ask(const Policy& policy, std::string_view lines) {
    const runtime::testing::TestRequest request(lines);
    AuthResult auth_result;
    net::Loop loop;
    net::tls::RecordRoom records;
    net::client::HttpClient client(loop, stores.resolver, records);
    loop.post([&] { drive(policy, request, loop, client, auth_result); });
    loop.run();
    return auth_result;
  }

 private:
  template <typename Policy>
  net::Detached drive(const Policy& policy, const runtime::testing::TestRequest& request, net::Loop& loop,
                      net::client::HttpClient& client, AuthResult& auth_result) {
    net::Waiter waiter(loop);
    AuthResult said =
        co_await policy.ask(request.policy_request(loop.now()), AuthContext{loop, waiter, client, stores, unix_now});
    auth_result = std::move(said);
    loop.stop();
  }
};

}  // namespace edge::runtime::auth::testing
