#include "runtime/session/server.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <iterator>
#include <latch>
#include <mutex>
#include <thread>

#include "runtime/session/server/impl.h"

namespace edge::runtime {

void Server::Impl::on_every_worker(const std::function<void(std::size_t, Worker&)>& work) {
  std::latch done(static_cast<std::ptrdiff_t>(workers.size()));
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i]->post([&, i] {
      work(i, *workers[i]);
      done.count_down();
    });
  }
  done.wait();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->names.reset();
  for (const auto& worker : impl_->workers) worker->stop();
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  net::ignore_sigpipe();
  auto impl = std::make_unique<Impl>();
  impl->shared.options = options;
  if (options.clock != nullptr) impl->shared.backends.measure_by(*options.clock);
  impl->shared.backends.set_zone(options.zone);
  impl->shared.spools.emplace(options.buffer_directory,
                              SpoolLimits{.memory_all = options.buffer_memory, .files_all = options.buffer_files});
  // One that was named, and cannot be used, is a mistake; that of the environment may never be needed.
  if (!options.buffer_directory.empty() && !impl->shared.spools->open_file().valid()) {
    return Error{ErrorCode::kFailedPrecondition, "no file can be made in " + options.buffer_directory};
  }
  impl->shared.authentication.emplace(options.call_authorities, options.log, options.denied_calls,
                                      options.names.queries);
  impl->shared.threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < impl->shared.threads; ++i) {
    impl->workers.push_back(std::make_unique<Worker>(impl->shared));
    impl->workers.back()->start();
  }
  EndpointNameOptions names = options.names;
  names.denied = options.denied_calls;
  impl->names.emplace(std::move(names), impl->shared.backends, [all = impl.get()](bool changed) {
    if (!changed) return;
    for (const auto& worker : all->workers) worker->post([&one = *worker] { one.refresh_endpoints(); });
  });
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::vector<HandedFlow> Server::give_flows() {
  std::mutex mutex;
  std::vector<HandedFlow> all;
  impl_->on_every_worker([&](std::size_t, Worker& worker) {
    std::vector<HandedFlow> own;
    worker.give_flows(own);
    const std::lock_guard lock(mutex);
    std::ranges::move(own, std::back_inserter(all));
  });
  return all;
}

void Server::take_flows(std::vector<HandedFlow> flows) {
  impl_->awaits_flows = false;
  // One thread after the other, as each takes its own out of the list.
  for (const auto& worker : impl_->workers) worker->call([&] { worker->take_flows(flows); });
}

bool Server::answers(std::chrono::nanoseconds patience) const {
  // Shared with the threads: they may come to it after we stopped waiting.
  const auto all = std::make_shared<std::promise<void>>();
  const auto left = std::make_shared<std::atomic<std::size_t>>(impl_->workers.size());
  auto done = all->get_future();
  for (const auto& worker : impl_->workers) {
    worker->post([all, left] {
      if (left->fetch_sub(1) == 1) all->set_value();
    });
  }
  return done.wait_for(patience) == std::future_status::ready;
}

bool Server::drain(std::chrono::nanoseconds deadline) {
  struct Progress {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t busy;
  };
  impl_->draining = true;
  // Shared with the workers: they may report after we stopped waiting.
  const auto progress = std::make_shared<Progress>();
  progress->busy = impl_->workers.size();
  for (const auto& worker : impl_->workers) {
    worker->post([&target = *worker, progress] {
      target.drain([progress] {
        const std::lock_guard lock(progress->mutex);
        --progress->busy;
        progress->changed.notify_all();
      });
    });
  }
  bool in_time;
  {
    std::unique_lock lock(progress->mutex);
    in_time = progress->changed.wait_for(lock, deadline, [&] { return progress->busy == 0; });
  }
  if (!in_time) impl_->on_every_worker([](std::size_t, Worker& worker) { worker.cancel_sessions(); });
  const std::lock_guard lock(impl_->mutex);
  for (ListenerSlot& slot : impl_->slots) {
    slot.open = false;
    slot.fault.reset();
  }
  return in_time;
}

}  // namespace edge::runtime
