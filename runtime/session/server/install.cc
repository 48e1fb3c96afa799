// Programs, secrets and endpoints of a Server, as they are replaced.
#include <mutex>
#include <string>
#include <utility>

#include "runtime/session/server/impl.h"

namespace edge::runtime {

Status Server::install(std::shared_ptr<const LoadedProgram> program) {
  Impl& impl = *impl_;
  if (impl.draining) return Error{ErrorCode::kFailedPrecondition, "the server is draining"};
  // First of all: sockets that are taken over from another process can be had once.
  if (const Status prepared = impl.prepare(*program); !prepared.ok()) return prepared;

  std::vector<ListenerSlot> slots = impl.slots;
  std::vector<OpeningSlot> openings = impl.open_binds(slots, *program);
  auto policies = std::make_shared<const Policies>(*program, &impl.shared.limit_counts);
  impl.shared.shared_limits.set(policies->shared_limits());
  SharedProgram next = impl.make(std::move(program), std::move(policies));
  impl.on_every_worker([&](std::size_t index, Worker& worker) {
    worker.take(next, binds_of(slots));
    impl.listen(openings, index, worker);
  });
  impl.close_unbound(slots);
  impl.adopted.clear();
  const std::lock_guard lock(impl.mutex);
  impl.slots = std::move(slots);
  impl.running = std::move(next);
  return {};
}

Status Server::Impl::prepare(const LoadedProgram& of) {
  std::mutex failed_mutex;
  Status prepared;
  on_every_worker([&](std::size_t, Worker& worker) {
    Status status = worker.prepare(of);
    const std::lock_guard lock(failed_mutex);
    if (!status.ok()) prepared = status;
  });
  return prepared;
}

SharedProgram Server::Impl::make(std::shared_ptr<const LoadedProgram> of, std::shared_ptr<const Policies> with) {
  SharedProgram made{.program = std::move(of), .policies = std::move(with)};
  made.tls = TlsStore::make(*made.program, *secrets, tickets, running.tls.get());
  made.authentication = auth::Authentication::make(*made.program, *secrets, *shared.authentication);
  made.ip_accesses = make_ip_accesses(*made.program);
  shared.backends.configure(made.program->backends(), made.program->backends_section(), made.tls->backends(),
                            made.tls->clusters());
  return made;
}

std::shared_ptr<const IpAccesses> Server::Impl::make_ip_accesses(const LoadedProgram& of) const {
  return IpAccesses::make(of.policies_section(), *secrets, *access_files, running.ip_accesses.get());
}

void Server::Impl::retake(SharedProgram next) {
  {
    const std::lock_guard lock(mutex);
    running = std::move(next);
  }
  on_every_worker([&](std::size_t, Worker& worker) { worker.take(running, binds_of(slots)); });
}

void Server::set_secrets(const program::SecretSet& secrets) {
  Impl& impl = *impl_;
  impl.secrets = std::make_shared<const program::SecretSet>(secrets);
  if (impl.running.program == nullptr) return;
  impl.retake(impl.make(impl.running.program, impl.running.policies));
}

void Server::set_access_files(std::shared_ptr<const AccessFiles> files) {
  Impl& impl = *impl_;
  impl.access_files = std::move(files);
  if (impl.running.program == nullptr) return;
  SharedProgram next = impl.running;
  next.ip_accesses = impl.make_ip_accesses(*next.program);
  impl.retake(std::move(next));
}

std::vector<std::string> Server::secret_faults() const {
  const std::lock_guard lock(impl_->mutex);
  const SharedProgram& running = impl_->running;
  if (running.tls == nullptr) return {};
  std::vector<std::string> faults = running.tls->faults();
  const std::vector<std::string>& others = running.authentication->faults();
  faults.insert(faults.end(), others.begin(), others.end());
  const std::vector<std::string>& accesses = running.ip_accesses->faults();
  faults.insert(faults.end(), accesses.begin(), accesses.end());
  return faults;
}

void Server::set_endpoints(const program::EndpointSet& endpoints) {
  impl_->names->set(std::make_shared<const program::EndpointSet>(endpoints));
  impl_->on_every_worker([](std::size_t, Worker& worker) { worker.refresh_endpoints(); });
}

bool Server::set_region(std::string region) { return impl_->shared.backends.set_region(std::move(region)); }
bool Server::set_zone(std::string zone) { return impl_->shared.backends.set_zone(std::move(zone)); }

void Server::set_route_marks(std::span<const GatewayMark> marks) { impl_->shared.backends.route_marks().set(marks); }

std::string Server::zone() const { return impl_->shared.backends.zone(); }

bool Server::wait_for_names(std::chrono::milliseconds patience) const {
  return impl_->names->wait_for_answers(patience);
}

std::shared_ptr<const LoadedProgram> Server::program() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->running.program;
}

}  // namespace edge::runtime
