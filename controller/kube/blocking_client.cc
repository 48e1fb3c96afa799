#include "controller/kube/blocking_client.h"

#include <functional>
#include <future>
#include <latch>
#include <thread>

namespace edge::kube {

struct BlockingClient::State {
  explicit State(net::Loop* given)
      : own(given == nullptr ? std::make_unique<net::Loop>() : nullptr), loop(given == nullptr ? *own : *given) {}

  std::unique_ptr<net::Loop> own;  ///< null: the loop is somebody else's
  net::Loop& loop;
  std::unique_ptr<Client> client;
  std::unique_ptr<Discovery> discovery;
  std::thread thread;

  Status make_client(Config config, ClientOptions options) {
    auto made = Client::make(loop, std::move(config), std::move(options));
    if (!made.ok()) return made.error();
    client = std::move(*made);
    discovery = std::make_unique<Discovery>(*client);
    return {};
  }
  /// On the loop's thread, which is another one and runs.
  void run_there(const std::function<void()>& work) {
    std::latch done(1);
    loop.post([&] {
      work();
      done.count_down();
    });
    done.wait();
  }

  /// Makes a task on the loop's thread and waits for what it comes to.
  template <typename T, typename Make>
  T wait_for(const Make& make) {
    auto result = std::make_shared<std::promise<T>>();
    std::future<T> future = result->get_future();
    loop.post([&] { run<T>(make, std::move(result)); });
    return future.get();
  }
  /// The promise outlives whoever waits for it: that one is off as soon as it is kept.
  template <typename T, typename Make>
  net::Detached run(const Make& make, std::shared_ptr<std::promise<T>> result) {
    net::Waiter waiter(loop);
    T value = co_await make(waiter);
    result->set_value(std::move(value));
  }
};

BlockingClient::BlockingClient(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<BlockingClient>> BlockingClient::make(Config config, ClientOptions options, net::Loop* loop) {
  net::ignore_sigpipe();
  auto state = std::make_unique<State>(loop);
  Status made;
  if (loop == nullptr) {
    made = state->make_client(std::move(config), std::move(options));
    if (made) state->thread = std::thread([own = state->own.get()] { own->run(); });
  } else {
    state->run_there([&] { made = state->make_client(std::move(config), std::move(options)); });
  }
  if (!made) return made.error();
  return std::unique_ptr<BlockingClient>(new BlockingClient(std::move(state)));
}

BlockingClient::~BlockingClient() {
  // Nobody is in a call any more: each waits for its end.
  const auto end = [this] {
    state_->discovery.reset();
    state_->client.reset();
  };
  if (state_->own == nullptr) {
    state_->run_there(end);
    return;
  }
  state_->own->stop();
  state_->thread.join();
  end();
}

const Config& BlockingClient::config() const { return state_->client->config(); }

Reply BlockingClient::send(Request request) {
  return state_->wait_for<Reply>([&](net::Waiter& waiter) { return state_->client->send(waiter, request); });
}

ObjectReply BlockingClient::get(const Resource& resource, const std::string& name_space, const std::string& name) {
  return state_->wait_for<ObjectReply>(
      [&](net::Waiter& waiter) { return state_->client->get(waiter, resource, name_space, name); });
}

ListReply BlockingClient::list(const Resource& resource, const ListOptions& options) {
  return state_->wait_for<ListReply>(
      [&](net::Waiter& waiter) { return state_->client->list(waiter, resource, options); });
}

ListReply BlockingClient::list_all(const Resource& resource, const ListOptions& options) {
  return state_->wait_for<ListReply>(
      [&](net::Waiter& waiter) { return state_->client->list_all(waiter, resource, options); });
}

ObjectReply BlockingClient::create(const Resource& resource, const std::string& name_space, const std::string& object,
                                   const WriteOptions& options) {
  return state_->wait_for<ObjectReply>(
      [&](net::Waiter& waiter) { return state_->client->create(waiter, resource, name_space, object, options); });
}

ObjectReply BlockingClient::update(const Resource& resource, const std::string& name_space, const std::string& name,
                                   const std::string& object, const WriteOptions& options) {
  return state_->wait_for<ObjectReply>(
      [&](net::Waiter& waiter) { return state_->client->update(waiter, resource, name_space, name, object, options); });
}

ObjectReply BlockingClient::patch(const Resource& resource, const std::string& name_space, const std::string& name,
                                  PatchType type, const std::string& patch, const WriteOptions& options) {
  return state_->wait_for<ObjectReply>([&](net::Waiter& waiter) {
    return state_->client->patch(waiter, resource, name_space, name, type, patch, options);
  });
}

Reply BlockingClient::remove(const Resource& resource, const std::string& name_space, const std::string& name,
                             const DeleteOptions& options) {
  return state_->wait_for<Reply>(
      [&](net::Waiter& waiter) { return state_->client->remove(waiter, resource, name_space, name, options); });
}

Reply BlockingClient::remove_all(const Resource& resource, const ListOptions& which, const DeleteOptions& options) {
  return state_->wait_for<Reply>(
      [&](net::Waiter& waiter) { return state_->client->remove_all(waiter, resource, which, options); });
}

DiscoveryReply BlockingClient::discover() {
  return state_->wait_for<DiscoveryReply>([&](net::Waiter& waiter) { return state_->discovery->refresh(waiter); });
}

Discovery::Found BlockingClient::find(const std::string& word) {
  return state_->wait_for<Discovery::Found>([&](net::Waiter& waiter) { return state_->discovery->find(waiter, word); });
}

Discovery::Found BlockingClient::find_kind(const std::string& api_version, const std::string& kind) {
  return state_->wait_for<Discovery::Found>(
      [&](net::Waiter& waiter) { return state_->discovery->find_kind(waiter, api_version, kind); });
}

namespace {

net::Task<Failure> follow(Client& client, net::Waiter& waiter, Resource resource, WatchOptions options, net::Time until,
                          const std::function<bool(const WatchEvent& event)>& each) {
  Watch watch = co_await client.watch(waiter, resource, options);
  if (!watch.ok()) co_return watch.failure();
  for (;;) {
    const Watch::Next next = co_await watch.next(waiter, until);
    if (next.kind == Watch::Next::Kind::kEnd) co_return Failure{};
    if (next.kind == Watch::Next::Kind::kFailed) co_return next.failure;
    if (next.event.type == EventType::kError) co_return next.event.failure;
    if (!each(next.event)) co_return Failure{};
  }
}

}  // namespace

Failure BlockingClient::watch(const Resource& resource, const WatchOptions& options, net::Time until,
                              const std::function<bool(const WatchEvent& event)>& each) {
  return state_->wait_for<Failure>(
      [&](net::Waiter& waiter) { return follow(*state_->client, waiter, resource, options, until, each); });
}

}  // namespace edge::kube
