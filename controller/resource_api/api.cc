#include "controller/resource_api/api.h"

#include "controller/resource_api/registry.h"

namespace edge::resource_api {

struct Api::State {
  Registry registry;
};

Api::Api(std::unique_ptr<State> state) : state_(std::move(state)) {}
Api::~Api() = default;

Result<std::unique_ptr<Api>> Api::open(ApiOptions) { return std::unique_ptr<Api>(new Api(std::make_unique<State>())); }

ApiReply Api::handle(const ApiRequest& request) { return std::move(handle_all({&request, 1}).front()); }

std::vector<ApiReply> Api::handle_all(std::span<const ApiRequest> requests) {
  std::vector<ApiReply> replies(requests.size());
  for (ApiReply& reply : replies) {
    reply.status = 501;
    reply.body =
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"not implemented","code":501})";
  }
  return replies;
}

std::chrono::milliseconds Api::work() { return std::chrono::seconds(60); }
const Registry& Api::registry() const { return state_->registry; }
std::int64_t Api::resource_version() const { return 0; }

}  // namespace edge::resource_api
