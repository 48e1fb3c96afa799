// edgectl federation against a controller's port, whose federation is a sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/distribute/distributor.h"
#include "controller/federation/sample_view.h"
#include "controller/federation_page.h"
#include "tests/cli/process.h"

namespace edge::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class FederationCommands : public testing::Test {
 protected:
  void SetUp() override {
    controller::DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = dir_ / "data";
    options.own_pages = [this](const controller::AgentQuestion& question, const controller::TakeAnswer& take) {
      take(controller::federation_page(sample_.view(), question));
    };
    auto started = controller::Distributor::start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().text;
    controller_ = std::move(*started);
  }

  Finished edgectl(std::vector<std::string> words) {
    std::vector<std::string> command = {"edgectl", "federation"};
    command.insert(command.end(), words.begin(), words.end());
    command.insert(command.end(), {"--credentials", controller_->admin_file()});
    return run_command(command);
  }

  TempDir dir_;
  federation::SampleFederation sample_;
  std::unique_ptr<controller::Distributor> controller_;
};

TEST_F(FederationCommands, ShowStatusAndPeers) {
  const Finished status = edgectl({"status"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out, AllOf(ContainsRegex("Peers: +1/2 connected"), ContainsRegex("State: +2.0 KiB, written never"),
                                ContainsRegex("ProxyRoute +2 +1 +1\n")));
  EXPECT_THAT(edgectl({"status", "-o", "yaml"}).out, HasSubstr("conflictPolicy: OldestWins\n"));
  const Finished peers = edgectl({"peers"});
  EXPECT_THAT(peers.out, AllOf(ContainsRegex("berlin +Synchronized"), ContainsRegex("paris +Away +never +3 .1m30s.")));
  EXPECT_THAT(edgectl({"peers", "-o", "wide"}).out,
              AllOf(HasSubstr("2 (the author may not write the object)"), HasSubstr("the connection was lost")));
  EXPECT_THAT(edgectl({"peers", "-o", "json"}).out, HasSubstr(R"("lagSeconds": 90.0)"));
}

TEST_F(FederationCommands, ListConflictsAndShowHowTheVersionsDiffer) {
  EXPECT_THAT(edgectl({"conflicts"}).out, ContainsRegex("ProxyRoute +shop/cart +this cluster +berlin"));
  const Finished one = edgectl({"conflicts", "route", "shop/cart"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, AllOf(HasSubstr("1. wins: "), HasSubstr("--keep bbbb.5.9"),
                             HasSubstr("spec.rules[0].matches[0].path.value: /own -> /berlin\n")));
  const Finished none = edgectl({"conflicts", "route", "other"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "edgectl federation conflicts: error: there is no conflict about it\n");
}

TEST_F(FederationCommands, ResolveWhatIsNamedAndNothingElse) {
  // No terminal, and nothing said: both are shown, nothing is done.
  const Finished silent = edgectl({"conflicts", "--resolve", "route", "cart", "-n", "shop"});
  EXPECT_EQ(silent.code, 2);
  EXPECT_THAT(silent.out, HasSubstr("2. loses: by berlin"));
  EXPECT_THAT(silent.err, HasSubstr("--keep says which of these versions stays"));
  EXPECT_EQ(edgectl({"conflicts", "--resolve", "route", "shop/cart", "--keep", "paris"}).code, 2);
  EXPECT_EQ(edgectl({"conflicts", "--resolve", "route", "shop/cart", "--keep", "3"}).code, 2);
  EXPECT_EQ(edgectl({"conflicts", "--keep", "berlin"}).code, 2);
  EXPECT_TRUE(sample_.resolved.empty());
  const Finished done = edgectl({"conflicts", "--resolve", "route", "shop/cart", "--keep", "berlin"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "resolved: bbbb.5.9 is written over the others\n");
  ASSERT_EQ(sample_.resolved.size(), 1u);
  EXPECT_EQ(sample_.resolved[0].replica.cluster, "bbbb");
  EXPECT_THAT(sample_.resolvers[0], testing::MatchesRegex("[^ ]+ \\(administrator [^ ]+ at .+\\)"));
  EXPECT_EQ(edgectl({"conflicts"}).err, "edgectl: there are no conflicts\n");
}

TEST_F(FederationCommands, SynchronizeTellsHowFarItIs) {
  const Finished sync = edgectl({"sync"});
  EXPECT_EQ(sync.code, 0) << sync.err;
  EXPECT_EQ(sync.err, "edgectl: berlin: 4 versions are to be acknowledged\nedgectl: berlin: is synchronized\n");
  EXPECT_THAT(sync.out, AllOf(ContainsRegex("berlin +Synchronized"), Not(HasSubstr("paris"))));
  EXPECT_EQ(edgectl({"sync", "rome"}).code, 1);
  EXPECT_EQ(edgectl({"sync", "--timeout", "soon"}).code, 2);
}

TEST_F(FederationCommands, VectorClockSaysWhoKnowsWhat) {
  const Finished clock = edgectl({"vector-clock", "ProxyRoute", "cart", "-n", "shop"});
  EXPECT_EQ(clock.code, 0) << clock.err;
  EXPECT_THAT(clock.out, AllOf(ContainsRegex("berlin +5 +2-4, 9\n"), ContainsRegex("paris +no +aaaa.7.3 +bbbb.5.9")));
  EXPECT_EQ(edgectl({"vector-clock", "route", "none"}).code, 1);
  EXPECT_EQ(edgectl({"vector-clock", "route"}).code, 2);
}

TEST_F(FederationCommands, ControllersThatCannotAnswerAreSaidSo) {
  sample_.leads = false;
  const Finished follower = edgectl({"peers"});
  EXPECT_EQ(follower.code, 1);
  EXPECT_THAT(follower.err, HasSubstr("this controller does not lead: ask edge-controller-1"));
  controller_->stop();
  EXPECT_EQ(edgectl({"peers", "--request-timeout", "1s"}).code, 3);
}

}  // namespace
}  // namespace edge::test
