// For tests of authentication policies: a place to work in, a section that holds one record, and requests that are
// asked one after another.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client/http_client.h"
#include "net/tls/record_layer.h"
#include "program/records.h"
#include "program/section_builder.h"
#include "runtime/policy/auth/place.h"
#include "runtime/policy/auth/stores.h"
#include "runtime/policy/auth/verdict.h"
#include "runtime/policy/test_asked.h"

namespace edge::runtime::auth::testing {

class TestPlace {
 public:
  /// Seconds since 1970.
  static constexpr std::int64_t kNow = 1'800'000'000;

  Stores stores;
  std::int64_t unix_now = kNow;

  /// What the policy says of a request whose head is `lines`. Each has a loop of its own: one that was stopped stays
  /// so.
  template <typename Policy>
  Verdict ask(const Policy& policy, std::string_view lines) {
    const runtime::testing::TestRequest request(lines);
    Verdict verdict;
    net::Loop loop;
    net::tls::RecordRoom records;
    net::client::HttpClient client(loop, stores.resolver, records);
    loop.post([&] { drive(policy, request, loop, client, verdict); });
    loop.run();
    return verdict;
  }

 private:
  template <typename Policy>
  net::Detached drive(const Policy& policy, const runtime::testing::TestRequest& request, net::Loop& loop,
                      net::client::HttpClient& client, Verdict& verdict) {
    net::Waiter waiter(loop);
    Verdict said = co_await policy.ask(request.asked(loop.now()), Place{loop, waiter, client, stores, unix_now});
    verdict = std::move(said);
    loop.stop();
  }
};

}  // namespace edge::runtime::auth::testing
