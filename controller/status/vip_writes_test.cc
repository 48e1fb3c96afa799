// What virtual addresses cost the API: statuses and events of ProxyVIPs.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/status/status_queue.h"

namespace edge::controller {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Json = nlohmann::json;
using WriteResult = StatusQueue::WriteResult;

constexpr const char* kNow = "2026-01-02T03:04:05Z";

ResourceId key(const std::string& name, const std::string& kind = "ProxyVIP") { return {kind, "shop", name}; }

AgentVip said(const std::string& agent, const std::string& name) {
  AgentVip vip{.agent = agent, .node = "node-" + agent, .state = {}};
  vip.state.name_space = "shop";
  vip.state.name = name;
  return vip;
}

/// Three nodes that share addresses, and a cluster that takes every patch after some time.
class VipWrites : public testing::Test {
 protected:
  static constexpr std::size_t kAddresses = 200;

  static std::string name(std::size_t number) { return "vip-" + std::to_string(number); }

  void add(const ResourceId& id) {
    DesiredStatus made;
    made.key = id;
    made.servable = true;
    made.program = 1;
    const Json accepted = {
        {"type", "Accepted"}, {"status", "True"}, {"reason", "Accepted"}, {"message", ""}, {"observedGeneration", 1}};
    made.status = Json({{"observedGeneration", 1}, {"conditions", {accepted}}}).dump();
    stored_[id] = Json::object();
    queue_.observe(id, observed(id), now_);
    queue_.set_desired(std::move(made), now_);
  }
  void add_all(std::size_t addresses = kAddresses) {
    for (std::size_t i = 0; i < addresses; ++i) add(key(name(i)));
  }
  /// A pool with an address for each of these gateways.
  void set_pool(const std::vector<std::string>& gateways) {
    DesiredStatus made;
    made.key = key("pool");
    Json allocations = Json::array();
    for (const std::string& gateway : gateways) {
      allocations.push_back({{"address", "192.0.2." + std::to_string(allocations.size())},
                             {"kind", "ProxyGateway"},
                             {"namespace", "shop"},
                             {"name", gateway}});
    }
    made.status = Json({{"conditions", Json::array()}, {"allocations", std::move(allocations)}}).dump();
    queue_.set_desired(std::move(made), now_);
  }
  StatusQueue::Observed observed(const ResourceId& id) {
    return {"uid", std::to_string(++version_), stored_[id].dump()};
  }
  /// `lost`: its addresses are held by the next of the others.
  static AgentsView held(const std::string& lost = {}, std::size_t addresses = kAddresses) {
    AgentsView view;
    view.programs = {1, 1, 1};
    for (std::size_t i = 0; i < addresses; ++i) {
      const std::string of_three[] = {"a", "b", "c"};
      std::string holder = of_three[i % 3];
      const bool moved = holder == lost;
      if (moved) holder = lost == "a" ? "b" : "a";
      AgentVip vip = said(holder, name(i));
      vip.state.held = true;
      vip.state.epoch = moved ? 2 : 1;
      vip.state.cause = moved ? "NodeLost" : "Vacant";
      view.vips["shop/" + name(i)].push_back(std::move(vip));
    }
    return view;
  }

  /// A write that the server has, and answers at `ends`.
  struct UnderWay {
    net::Time ends{};
    std::optional<StatusQueue::Write> status;
  };
  void begin(std::optional<StatusQueue::Write> status) {
    const net::Duration took = took_[++begun_ % took_.size()];
    // The server takes it at any time until its answer is here: now at the begin, now at the end.
    taken_.insert(begun_ % 2 == 0 ? now_ : now_ + took);
    under_way_.push_back({now_ + took, std::move(status)});
  }
  void begin_what_is_due() {
    for (;;) {
      if (auto write = queue_.next(now_, kNow)) {
        if (write->key.kind != "ProxyVIP") {
          others_.emplace_back(now_);
          queue_.done(write->key, WriteResult::kWritten, observed(write->key), now_);
          continue;
        }
        statuses_.push_back(write->key.name);
        begin(std::move(write));
      } else if (auto event = queue_.next_event(now_)) {
        events_.push_back(event->key.name + " " + event->event.reason + ": " + event->event.message);
        told_at_.push_back(now_);
        begin(std::nullopt);
      } else {
        return;
      }
    }
  }
  void end_one() {
    const auto first = std::ranges::min_element(under_way_, {}, &UnderWay::ends);
    now_ = std::max(now_, first->ends);
    UnderWay ended = std::move(*first);
    under_way_.erase(first);
    if (!ended.status) return queue_.event_done(now_);
    const ResourceId& id = ended.status->key;
    stored_[id].merge_patch(Json::parse(ended.status->patch)["status"]);
    queue_.done(id, WriteResult::kWritten, observed(id), now_);
    queue_.observe(id, observed(id), now_);
  }
  /// Until nothing more is due, or `until`. \returns the statuses of addresses that were written.
  std::size_t write_all(net::Time until = net::kNever) {
    const std::size_t before = statuses_.size();
    for (int rounds = 0; rounds < 100'000; ++rounds) {
      begin_what_is_due();
      net::Time next = queue_.due();
      for (const UnderWay& one : under_way_) next = std::min(next, one.ends);
      if (next == net::kNever || next > until) break;
      if (std::ranges::any_of(under_way_, [&](const UnderWay& one) { return one.ends <= next; })) {
        end_one();
      } else {
        now_ = std::max(now_, next);
      }
    }
    return statuses_.size() - before;
  }
  std::size_t most_in_a_second() const {
    std::size_t most = 0;
    for (const net::Time time : taken_) {
      const auto within = std::distance(taken_.lower_bound(time), taken_.lower_bound(time + 1s));
      most = std::max(most, static_cast<std::size_t>(within));
    }
    return most;
  }

  StatusQueue queue_{{.controller_class = "edgeproxy.io/proxy"}};
  net::Time now_ = net::Time(1h);
  std::vector<net::Duration> took_ = {5ms, 40ms, 300ms, 2ms, 1100ms};
  std::map<ResourceId, Json> stored_;
  std::vector<UnderWay> under_way_;
  std::multiset<net::Time> taken_;
  std::vector<std::string> statuses_, events_;
  std::vector<net::Time> told_at_, others_;
  std::size_t begun_ = 0;
  int version_ = 10;
};

TEST_F(VipWrites, OfTwoHundredAddressesAreTwoASecondAndNoneAtRest) {
  queue_.agents(held(), now_);
  add_all();
  EXPECT_EQ(write_all(), kAddresses);
  EXPECT_EQ(std::set(statuses_.begin(), statuses_.end()).size(), kAddresses);
  EXPECT_THAT(events_, SizeIs(kAddresses));
  EXPECT_EQ(most_in_a_second(), 2U);
  events_.clear();
  now_ += 1h;
  queue_.agents(held(), now_);
  EXPECT_EQ(write_all(), 0U) << "at rest";
  statuses_.clear();
  queue_.agents(held("b"), now_);
  EXPECT_EQ(write_all(), 67U) << "of the addresses that moved";
  EXPECT_EQ(most_in_a_second(), 2U);
  for (const std::string& name : statuses_) EXPECT_EQ(std::stoul(name.substr(4)) % 3, 1U) << name;
  EXPECT_THAT(events_, Contains("vip-1 Moved: node node-a holds it, node node-b did before: NodeLost, epoch 2"));
  EXPECT_THAT(events_, SizeIs(67));
}

TEST_F(VipWrites, OfAThousandAddressesEndInTimeAndKeepNoOtherKindWaiting) {
  took_ = {10ms};
  queue_.agents(held({}, 1000), now_);
  add_all(1000);
  const net::Time began = now_;
  write_all(began + 5s);
  add(key("web", "ProxyGateway"));
  write_all(now_);
  EXPECT_THAT(others_, ElementsAre(now_)) << "at once";
  write_all();
  EXPECT_THAT(std::set(statuses_.begin(), statuses_.end()), SizeIs(1000));
  EXPECT_THAT(events_, SizeIs(1000));
  EXPECT_EQ(most_in_a_second(), 2U);
  EXPECT_LE(now_ - began, 1020s) << "no more than two thousand writes take";
}

TEST_F(VipWrites, OfASingleChangeWaitForNothing) {
  took_ = {10ms};
  add_all(3);
  queue_.agents(held({}, 3), now_);
  write_all();
  now_ += 10s;
  const net::Time moved = now_;
  events_.clear();
  AgentsView view = held({}, 3);
  view.vips["shop/vip-0"].front().node = "node-b";
  queue_.agents(std::move(view), now_);
  EXPECT_EQ(write_all(), 1U);
  EXPECT_THAT(events_, ElementsAre(testing::StartsWith("vip-0 Moved")));
  EXPECT_EQ(told_at_.back(), moved + 10ms) << "as soon as the status was written";
}

TEST_F(VipWrites, StatusesPrecedeEventsAndDoNotStarveThem) {
  took_ = {1ms};
  constexpr std::size_t kFew = 50;
  queue_.agents(held({}, kFew), now_);
  add_all(kFew);
  write_all(now_ + 1500ms);
  EXPECT_THAT(statuses_, SizeIs(4));
  EXPECT_THAT(events_, IsEmpty());
  write_all(now_ + 9s);
  EXPECT_GT(statuses_.size(), 3 * events_.size());
  // Addresses whose statuses change faster than they are written.
  for (std::uint64_t epoch = 2; epoch < 200; ++epoch) {
    AgentsView view = held({}, kFew);
    for (auto& [name, vips] : view.vips) vips.front().state.epoch = epoch;
    queue_.agents(std::move(view), now_);
    write_all(now_ + 1s);
    now_ += 1s;
    EXPECT_LE(queue_.waiting(), kFew + 33) << "bounded";
  }
  EXPECT_THAT(events_, SizeIs(kFew)) << "of each that it is held, though there was always a status to be written";
  EXPECT_EQ(most_in_a_second(), 2U);
}

TEST_F(VipWrites, AnAddressThatMovesOnAndOnKeepsNoOtherWaiting) {
  took_ = {1ms};
  queue_.agents(held(), now_);
  add_all();
  for (std::uint64_t moves = 0; moves < 2 * kAddresses; ++moves) {
    AgentsView view = held();
    view.vips["shop/" + name(0)].front().state.epoch += moves;
    queue_.agents(std::move(view), now_);
    write_all(now_ + 1s);
    now_ += 1s;
  }
  EXPECT_EQ(std::set(statuses_.begin(), statuses_.end()).size(), kAddresses);
}

TEST_F(VipWrites, AnAddressOfAPoolDoesNotWaitForTheOthers) {
  took_ = {1ms};
  queue_.agents(held(), now_);
  add(key("pool"));
  set_pool({"one"});
  add_all();
  write_all(now_ + 20s);
  ASSERT_EQ(std::ranges::count(statuses_, "pool"), 1);
  set_pool({"one", "two"});
  write_all(now_ + 2s);
  EXPECT_EQ(stored_[key("pool")]["allocations"].size(), 2U) << "agents know of it by the status";
  EXPECT_LT(statuses_.size(), kAddresses);
  // Which node holds it is as urgent as of any other.
  AgentsView view = held();
  AgentVip vip = said("a", "pool");
  vip.state.address = "192.0.2.1";
  vip.state.held = true;
  view.vips["shop/pool"].push_back(std::move(vip));
  queue_.agents(std::move(view), now_);
  write_all(now_ + 2s);
  EXPECT_FALSE(stored_[key("pool")]["allocations"][1].contains("node"));
  write_all();
  EXPECT_EQ(stored_[key("pool")]["allocations"][1]["node"], "node-a");
}

TEST_F(VipWrites, AnAddressThatNobodyHoldsIsAnEvent) {
  queue_.agents(held(), now_);
  add_all();
  write_all();
  events_.clear();
  AgentsView nobody = held();
  nobody.vips["shop/vip-1"].clear();
  queue_.agents(std::move(nobody), now_);
  EXPECT_EQ(write_all(), 1U);
  EXPECT_THAT(events_, ElementsAre("vip-1 NotHeld: node node-b holds it no longer"));
}

TEST_F(VipWrites, OfADeletedAddressAreNone) {
  queue_.agents(held(), now_);
  add_all();
  write_all(now_ + 20s);
  ASSERT_GT(queue_.waiting(), kAddresses / 2);
  // Some of them while they are under way: their turns must not be lost.
  while (under_way_.size() < 2) {
    now_ = std::max(now_, queue_.due());
    if (queue_.due() == net::kNever) end_one();
    begin_what_is_due();
  }
  for (std::size_t i = 0; i < kAddresses; ++i) queue_.forget(key(name(i)));
  events_.clear();
  EXPECT_EQ(write_all(), 0U);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_EQ(queue_.waiting(), 0U);
  EXPECT_EQ(queue_.due(), net::kNever);
  now_ += 2s;
  add(key("new"));
  AgentsView view = held();
  AgentVip vip = said("a", "new");
  vip.state.held = true;
  view.vips["shop/new"].push_back(std::move(vip));
  queue_.agents(std::move(view), now_);
  EXPECT_EQ(write_all(), 1U);
  EXPECT_THAT(events_, Contains("new Moved: node node-a holds it: it goes on with it, epoch 0"));
  EXPECT_EQ(most_in_a_second(), 2U);
}

TEST_F(VipWrites, ANewLeaderTellsNoEventOfTheOneBeforeAndWaitsASecond) {
  took_ = {1ms};
  queue_.agents(held(), now_);
  add_all();
  write_all(now_ + 20s);
  const std::size_t written = statuses_.size();
  const std::size_t told = events_.size();
  ASSERT_GT(written, told);
  const net::Time elected = now_;
  queue_.begin_to_lead(now_);
  EXPECT_EQ(write_all(elected + 999ms), 0U);
  write_all();
  EXPECT_THAT(statuses_, SizeIs(kAddresses)) << "what is written already is not written again";
  EXPECT_THAT(events_, SizeIs(told + kAddresses - written));
  EXPECT_EQ(most_in_a_second(), 2U);
}

TEST_F(VipWrites, AStatusThatCouldNotBeWrittenHasNoEventAndCostsItsTurn) {
  queue_.agents(held({}, 3), now_);
  add_all(3);
  auto first = queue_.next(now_, kNow);
  auto second = queue_.next(now_, kNow);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(queue_.next(now_, kNow)) << "the third one";
  EXPECT_EQ(queue_.due(), net::kNever) << "both are under way";
  queue_.done(first->key, WriteResult::kFailed, std::nullopt, now_);
  queue_.done(second->key, WriteResult::kStale, observed(second->key), now_);
  EXPECT_FALSE(queue_.next_event(now_));
  EXPECT_FALSE(queue_.next(now_, kNow));
  EXPECT_EQ(write_all(), 3U);
  EXPECT_THAT(events_, SizeIs(3));
  EXPECT_EQ(most_in_a_second(), 2U);
}

}  // namespace
}  // namespace edge::controller
