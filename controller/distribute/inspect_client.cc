#include "controller/distribute/inspect_client.h"

namespace edge::controller {
namespace {
Error absent() { return {ErrorCode::kUnimplemented, "controllers cannot be asked in this version"}; }
}  // namespace

struct InspectClient::Impl {};
InspectClient::InspectClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InspectClient::~InspectClient() = default;
Result<std::unique_ptr<InspectClient>> InspectClient::open(const InspectOptions&) { return absent(); }
Result<InspectClient::Agents> InspectClient::agents() { return absent(); }
Result<AgentState> InspectClient::agent(const std::string&) { return absent(); }
Result<std::vector<std::byte>> InspectClient::program(const std::string&) { return absent(); }
Result<std::vector<std::string>> InspectClient::wait(const std::string&, std::chrono::milliseconds) { return absent(); }
Status InspectClient::revoke(const std::string&) { return absent(); }
Result<std::vector<HistoryEntry>> InspectClient::history() { return absent(); }
Status InspectClient::rollback(const std::string&) { return absent(); }
Status InspectClient::release() { return absent(); }

}  // namespace edge::controller
