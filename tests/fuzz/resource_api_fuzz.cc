// Any requests to the embedded resource API: lines of `METHOD path?query type`, each with a body up to a line `---`.
// Every one is answered, what is refused by a metav1.Status; watches end or wait; and the API is whole afterwards.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/resource_api/api.h"
#include "controller/resource_api/registry.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::resource_api;
using Json = nlohmann::json;

constexpr std::size_t kMaxRequests = 8;
// What inputs leave behind would slow down those that follow; a new folder for each would slow down all.
constexpr int kInputsPerFolder = 256;
constexpr int kMaxPieces = 1000;

std::string_view take_until(std::string_view& rest, std::string_view mark) {
  const std::size_t at = rest.find(mark);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + mark.size());
  return part;
}

ApiRequest read_request(std::string_view& rest) {
  ApiRequest request;
  std::string_view line = take_until(rest, "\n");
  request.body = take_until(rest, "\n---\n");
  request.method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  request.content_type = line;
  request.accept = line.starts_with("accept:") ? line.substr(7) : std::string_view();
  request.path = take_until(target, "?");
  while (!target.empty()) {
    std::string_view pair = take_until(target, "&");
    const std::string_view name = take_until(pair, "=");
    request.query.emplace_back(name, pair);
  }
  request.user_agent = "fuzz/1";
  return request;
}

void check(ApiReply& reply) {
  require(reply.status >= 200 && reply.status < 600);
  if (reply.watch) {
    std::string text;
    int pieces = 0;
    while (reply.watch->next(text) == WatchStream::Next::kMore) require(++pieces < kMaxPieces);
    return;
  }
  const Json body = Json::parse(reply.body, nullptr, false);
  require(body.is_object());
  if (reply.status >= 400) require(body["kind"] == "Status" && body["code"] == reply.status);
  for (const auto& [name, value] : reply.fields) require(value.find_first_of("\r\n") == std::string::npos);
}

struct World {
  World() {
    std::string path = "/tmp/edge-api-fuzz-XXXXXX";
    require(mkdtemp(path.data()) != nullptr);
    folder = path;
    ApiOptions options;
    options.data_dir = folder;
    options.now = [] { return std::int64_t{1'800'000'000'000}; };
    auto opened = Api::open(std::move(options));
    require(opened.ok());
    api = std::move(*opened);
  }
  ~World() {
    api.reset();
    std::filesystem::remove_all(folder);
  }
  std::string folder;
  std::unique_ptr<Api> api;
  int inputs = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<World> world;
  if (!world || ++world->inputs > kInputsPerFolder) {
    world.reset();
    world = std::make_unique<World>();
  }
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<ApiRequest> requests;
  while (!rest.empty() && requests.size() < kMaxRequests) requests.push_back(read_request(rest));
  std::vector<ApiReply> replies = world->api->handle_all(requests);
  require(replies.size() == requests.size());
  for (ApiReply& reply : replies) check(reply);
  for (int turn = 0; turn < 64 && world->api->work().count() == 0; ++turn) {
  }
  ApiRequest probe;
  probe.path = "/api/v1/namespaces/default";
  require(world->api->handle(probe).status == 200);
  return 0;
}
