// For tests: an Api on a folder of its own, asked in few words.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/test_log.h"
#include "controller/resource_api/api.h"

namespace edge::resource_api {

using Json = nlohmann::json;

class ApiTest : public ::testing::Test {
 protected:
  struct Answer {
    int status = 0;
    Json body;
    std::vector<std::pair<std::string, std::string>> fields;
    std::string field(std::string_view name) const {
      for (const auto& [key, value] : fields) {
        if (key == name) return value;
      }
      return {};
    }
  };

  ApiTest() {
    std::string path = (std::filesystem::temp_directory_path() / "edge-api-XXXXXX").string();
    dir_ = mkdtemp(path.data());
    options_.data_dir = dir_;
    options_.now = [this] { return now_; };
    options_.log = log_.logger();
    start();
  }
  ~ApiTest() override {
    api_.reset();
    std::filesystem::remove_all(dir_);
  }

  void start() {
    api_.reset();
    auto api = Api::open(options_);
    ASSERT_TRUE(api.ok()) << api.error().text;
    api_ = std::move(*api);
  }

  /// `target`: path and query, unescaped.
  static ApiRequest request(std::string method, const std::string& target, std::string body = {},
                            std::string content_type = "application/json") {
    ApiRequest request;
    request.method = std::move(method);
    const std::size_t mark = std::min(target.find('?'), target.size());
    request.path = target.substr(0, mark);
    std::size_t at = mark;
    while (at < target.size()) {
      const std::size_t end = std::min(target.find('&', at + 1), target.size());
      const std::string pair = target.substr(at + 1, end - at - 1);
      const std::size_t sign = std::min(pair.find('='), pair.size());
      request.query.emplace_back(pair.substr(0, sign), pair.substr(std::min(sign + 1, pair.size())));
      at = end;
    }
    request.content_type = std::move(content_type);
    request.body = std::move(body);
    request.user = {"admin", {"system:masters"}};
    request.user_agent = "kubectl/v1.33.0 (linux/amd64)";
    return request;
  }
  Answer ask(const ApiRequest& asked) {
    const ApiReply reply = api_->handle(asked);
    return {reply.status, Json::parse(reply.body, nullptr, false), reply.fields};
  }
  Answer get(const std::string& target) { return ask(request("GET", target)); }
  Answer create(const std::string& target, const Json& body) { return ask(request("POST", target, body.dump())); }
  Answer update(const std::string& target, const Json& body) { return ask(request("PUT", target, body.dump())); }
  Answer remove(const std::string& target, const Json& body = nullptr) {
    return ask(request("DELETE", target, body.is_null() ? "" : body.dump()));
  }
  Answer patch(const std::string& target, const Json& body, const std::string& type = "merge-patch+json") {
    return ask(request("PATCH", target, body.dump(), "application/" + type));
  }
  /// Until nothing is due any more.
  void work() {
    for (int turn = 0; turn < 1000; ++turn) {
      if (api_->work().count() > 0) return;
    }
    FAIL() << "work does not end";
  }

  std::unique_ptr<WatchStream> watch(const std::string& target) {
    ApiReply reply = api_->handle(request("GET", target));
    EXPECT_EQ(reply.status, 200) << reply.body;
    return std::move(reply.watch);
  }
  /// What a watch has to tell, as `TYPE name`; `Json` of the last event in `last_event_`.
  std::vector<std::string> events(WatchStream& stream) {
    std::string text;
    while (stream.next(text) == WatchStream::Next::kMore) {
    }
    std::vector<std::string> reported;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = text.find('\n', at);
      last_event_ = Json::parse(text.substr(at, end - at), nullptr, false);
      const Json& object = last_event_["object"];
      const Json& metadata = object["metadata"];
      reported.push_back(last_event_["type"].get<std::string>() +
                         (metadata.contains("name") ? " " + metadata["name"].get<std::string>() : ""));
      at = end + 1;
    }
    return reported;
  }
  /// Names of a list, in its order.
  static std::vector<std::string> names(const Json& list) {
    std::vector<std::string> all;
    for (const Json& item : list["items"]) all.push_back(item["metadata"]["name"].get<std::string>());
    return all;
  }
  static Json config_map(const std::string& name, const Json& data = Json::object()) {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", data}};
  }

  std::string dir_;
  ApiOptions options_{};
  std::int64_t now_ = 1'700'000'000'000;
  TestLog log_{};
  std::unique_ptr<Api> api_{};
  Json last_event_{};
};

inline const std::string kMaps = "/api/v1/namespaces/default/configmaps";

}  // namespace edge::resource_api
