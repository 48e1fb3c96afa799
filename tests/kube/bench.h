// A client on a loop that the test itself turns: everything happens in its thread, between two looks at a condition.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "controller/kube/client.h"
#include "tests/kube/fake_api.h"

namespace edge::test {

inline kube::Config config_of(const std::string& url) {
  kube::Config config;
  config.cluster.name = "test";
  const Result<net::client::Url> parsed = net::client::parse_url(url);
  EXPECT_TRUE(parsed.ok()) << url;
  if (parsed.ok()) config.cluster.server = *parsed;
  config.cluster.server.target.clear();
  return config;
}

class Bench {
 public:
  explicit Bench(kube::Config config, kube::ClientOptions options = {}, const net::Clock* clock = nullptr)
      : loop_(clock) {
    net::ignore_sigpipe();
    auto made = kube::Client::make(loop_, std::move(config), std::move(options));
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text);
    if (made.ok()) client_ = std::move(*made);
  }

  kube::Client& client() { return *client_; }
  net::Loop& loop() { return loop_; }

  /// Turns the loop until it holds. False: not within twenty seconds.
  bool until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop_.poll();
      meet();
      std::this_thread::yield();
    }
    return true;
  }
  /// What the task comes to.
  template <typename T>
  T get(const std::function<net::Task<T>(net::Waiter&)>& make) {
    std::optional<T> result;
    start(make, result);
    EXPECT_TRUE(until([&] { return result.has_value(); })) << "no end";
    return std::move(*result);
  }
  template <typename T>
  net::Detached start(std::function<net::Task<T>(net::Waiter&)> make, std::optional<T>& result) {
    net::Waiter waiter(loop_);
    T value = co_await make(waiter);
    result.emplace(std::move(value));
  }

 private:
  net::Loop loop_;
  std::unique_ptr<kube::Client> client_;
};

}  // namespace edge::test
