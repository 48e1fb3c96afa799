// Virtual addresses as agents are given them: to which of them passwords of BGP go, and what labels of Nodes count for.
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "controller/distribute/distributor.h"
#include "schemas/agent.grpc.pb.h"
#include "tests/agents/light_agent.h"

namespace edge {
namespace {

namespace fs = std::filesystem;
using agent::v1::AddressesDown;
using agent::v1::AddressesUp;
using controller::Distributor;
using controller::VirtualAddresses;

constexpr auto kPatience = std::chrono::seconds(60);
constexpr const char* kPassword = "not for everybody";

/// The stream of addresses of one agent, until it goes out of scope.
class AddressListener {
 public:
  AddressListener(const std::string& controller, const agent::Identity& identity, const std::string& node,
                  const Labels& labels) {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("edge-controller");
    channel_ = grpc::CreateCustomChannel(
        controller, grpc::SslCredentials({identity.authorities, identity.key, identity.certificate}), arguments);
    stub_ = agent::v1::Agents::NewStub(channel_);
    stream_ = stub_->Addresses(&context_);
    AddressesUp up;
    auto& hello = *up.mutable_hello();
    hello.set_protocol(1);
    hello.set_oldest_protocol(1);
    hello.set_node(node);
    hello.set_version("0.0.9");
    hello.set_cpu("x86-64-v9");
    hello.set_instance("1");
    for (const auto& [key, value] : labels) (*hello.mutable_labels())[key] = value;
    stream_->Write(up);
    thread_ = std::thread([this] {
      AddressesDown down;
      while (stream_->Read(&down)) {
        const std::lock_guard lock(mutex_);
        last_ = down;
        ++messages_;
        changed_.notify_all();
      }
    });
  }
  ~AddressListener() {
    context_.TryCancel();
    thread_.join();
    stream_->Finish();
  }
  AddressListener(const AddressListener&) = delete;
  AddressListener& operator=(const AddressListener&) = delete;

  /// Whether what was said last came to be so.
  bool hears(const std::function<bool(const AddressesDown&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return messages_ > 0 && condition(last_); });
  }
  std::string password() {
    const std::lock_guard lock(mutex_);
    return last_.addresses(0).bgp().peers(0).password();
  }
  int messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::map<std::string, std::string> node_labels() {
    const std::lock_guard lock(mutex_);
    return {last_.node_labels().begin(), last_.node_labels().end()};
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<agent::v1::Agents::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<AddressesUp, AddressesDown>> stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  AddressesDown last_;  ///< guarded by mutex_, as all below
  int messages_ = 0;
  std::thread thread_;
};

class AddressesOfAgents : public testing::Test {
 protected:
  AddressesOfAgents() {
    std::string pattern = (fs::temp_directory_path() / "addresses.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    controller::DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = directory_;
    options.program_key = "key";
    auto started = Distributor::start(std::move(options));
    EXPECT_TRUE(started);
    distributor_ = std::move(*started);
  }
  ~AddressesOfAgents() override {
    distributor_.reset();
    fs::remove_all(directory_);
  }

  std::unique_ptr<AddressListener> connect(const std::string& name, const std::string& node,
                                           const Labels& labels = {}) {
    const std::string at = "127.0.0.1:" + std::to_string(distributor_->port());
    const auto identity = test::LightAgent::join(at, distributor_->join_file(), name);
    return std::make_unique<AddressListener>(at, identity, node, labels);
  }

  /// An address with a password, of nodes with the label.
  void publish() {
    auto all = std::make_shared<VirtualAddresses>();
    all->key = "key";
    controller::VirtualAddress& address = all->addresses.emplace_back();
    address.name_space = "shop";
    address.name = "public";
    address.address = *parse_ip("203.0.113.10");
    address.node_selector = {{"edge", "yes"}};
    address.bgp.emplace();
    address.bgp->local_as = 64512;
    address.bgp->peers.push_back(
        {.address = *parse_ip("192.0.2.9"), .as_number = 64500, .password = kPassword, .fault = {}});
    distributor_->publish(std::move(all));
  }

  static bool has_address(const AddressesDown& down) { return down.addresses_size() == 1; }

  std::string directory_;
  std::unique_ptr<Distributor> distributor_;
};

TEST_F(AddressesOfAgents, PasswordsGoToThoseThatTheSelectorChooses) {
  publish();
  const auto chosen = connect("chosen", "n1", {{"edge", "yes"}, {"more", "x"}});
  const auto other = connect("other", "n2", {{"edge", "no"}});
  const auto none = connect("none", "n3");
  for (const auto* const one : {&chosen, &other, &none}) ASSERT_TRUE((*one)->hears(has_address));
  EXPECT_EQ(chosen->password(), kPassword);
  EXPECT_EQ(other->password(), "");
  EXPECT_EQ(none->password(), "");
}

TEST_F(AddressesOfAgents, TheLabelsOfItsNodeCountWhereAnAgentHasNoneOfItsOwn) {
  publish();
  distributor_->set_node_labels("n1", {{"edge", "yes"}});
  const auto first = connect("first", "n1");
  const auto own = connect("own", "n1", {{"edge", "no"}});
  const auto second = connect("second", "n2");
  for (const auto* const one : {&first, &own, &second}) ASSERT_TRUE((*one)->hears(has_address));
  EXPECT_EQ(first->password(), kPassword);
  EXPECT_THAT(first->node_labels(), testing::ElementsAre(testing::Pair("edge", "yes")));
  EXPECT_EQ(own->password(), "") << "who starts an agent says it nearer";
  EXPECT_EQ(second->password(), "");
  EXPECT_THAT(second->node_labels(), testing::IsEmpty());

  // An edit of a Node reaches its agents, and no other.
  const int before = own->messages();
  distributor_->set_node_labels("n2", {{"edge", "yes"}});
  EXPECT_TRUE(second->hears([](const AddressesDown& down) { return down.node_labels().contains("edge"); }));
  EXPECT_EQ(second->password(), kPassword);
  distributor_->set_node_labels("n2", {});
  EXPECT_TRUE(second->hears([](const AddressesDown& down) { return down.node_labels().empty(); }));
  EXPECT_EQ(second->password(), "");
  EXPECT_EQ(own->messages(), before);
}

}  // namespace
}  // namespace edge
