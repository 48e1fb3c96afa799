#include "controller/distribute/distributor.h"

namespace edge::controller {

struct Distributor::Impl {};

Result<std::unique_ptr<Distributor>> Distributor::start(DistributorOptions) {
  return Error{ErrorCode::kUnimplemented, "programs cannot be distributed in this version"};
}
Distributor::Distributor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Distributor::~Distributor() = default;
void Distributor::publish(Published) {}
std::vector<AgentState> Distributor::agents() const { return {}; }
std::optional<AgentState> Distributor::agent(const std::string&) const { return std::nullopt; }
std::vector<BackendHealth> Distributor::backends() const { return {}; }
void Distributor::on_change(std::function<void()>) {}
std::uint16_t Distributor::port() const { return 0; }
std::string Distributor::join_file() const { return {}; }
std::string Distributor::admin_file() const { return {}; }

}  // namespace edge::controller
