// Clusters with real keys that know each other, and a connection between two of them: for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "controller/federation/keys.h"
#include "controller/federation/replica.h"
#include "controller/federation/session.h"

namespace edge::federation {

inline constexpr std::int64_t kTestTime = 1'700'000'000'000;

struct TestCluster {
  TestCluster(std::string cluster, MergeRules rules)
      : uid(std::move(cluster)),
        key(program::SigningKey::generate().value()),
        keys(std::make_unique<ClusterKeys>(key)),
        replica(uid, std::move(rules), keys->signatures()) {
    replica.begin_life(kTestTime, std::hash<std::string>{}(uid));
  }
  /// Knows the other's key, as a member and a peer.
  void meet(const TestCluster& other, PeerSettings settings = {}) {
    know(other);
    replica.set_peer(other.uid, std::move(settings));
  }
  void know(const TestCluster& other) {
    EXPECT_TRUE(keys->add(other.uid, other.key.public_pem()).ok());
    EXPECT_TRUE(keys->add(uid, key.public_pem()).ok());
    replica.add_member({.cluster = other.uid, .public_key = other.key.public_pem()});
  }

  std::string uid;
  program::SigningKey key;
  std::unique_ptr<ClusterKeys> keys;
  Replica replica;
};

/// A connection whose frames arrive at once.
class TestLink {
 public:
  TestLink(TestCluster& a, TestCluster& b, SessionOptions options = {})
      : a_(a.replica, b.uid, options, kTestTime), b_(b.replica, a.uid, options, kTestTime) {}

  /// Until neither has anything to say. \returns how many bytes went over.
  std::size_t run() {
    std::size_t bytes = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (auto [from, to] : {std::pair{&a_, &b_}, std::pair{&b_, &a_}}) {
        for (const Frame& frame : from->take(kTestTime)) {
          moved = true;
          const std::string text = encode(frame);
          EXPECT_LE(text.size(), kMostFrame);
          bytes += text.size();
          auto decoded = decode_frame(text);
          EXPECT_TRUE(decoded.ok());
          const Status status = to->receive(std::move(*decoded), kTestTime);
          EXPECT_TRUE(status.ok()) << status.error().text;
        }
      }
    }
    return bytes;
  }
  void compare() {
    a_.compare_now();
    b_.compare_now();
  }
  Session& a() { return a_; }
  Session& b() { return b_; }

 private:
  Session a_;
  Session b_;
};

}  // namespace edge::federation
