// What the front answers before the Api is asked, and what it tells of those it turns away.
#include "controller/resource_api/http/front.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/test_log.h"
#include "controller/resource_api/http/request_counts.h"
#include "net/clock.h"

namespace edge::resource_api::http {
namespace {

namespace fs = std::filesystem;
using net::server::FieldList;
using net::server::Reply;
using net::server::Request;
using testing::HasSubstr;
using testing::StartsWith;

class FrontTest : public testing::Test {
 protected:
  FrontTest() {
    std::string pattern = (fs::temp_directory_path() / "front.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    auto api = Api::open({.data_dir = directory_, .own_kinds = false});
    auto credentials = Credentials::open({.directory = directory_ + "/api"});
    EXPECT_TRUE(api && credentials);
    api_ = std::move(*api);
    credentials_ = std::move(*credentials);
    front_ = std::make_unique<Front>(loop_, *api_, *credentials_, log_.logger());
  }
  ~FrontTest() override {
    front_.reset();
    fs::remove_all(directory_);
  }

  /// The status that a request is refused with before its body is read; 0: it is let in.
  int admit(const std::string& method, const std::string& path, FieldList fields = {}) {
    const Request request{.method = method,
                          .path = path,
                          .query = {},
                          .host = {},
                          .fields = std::move(fields),
                          .body = {},
                          .peer = std::make_shared<const net::server::Peer>()};
    const std::optional<Reply> refused = front_->admit(request);
    return refused ? refused->status : 0;
  }
  std::pair<std::string, std::string> authorization() const {
    const std::string token = *read_file(directory_ + "/api/token", 1 << 10);
    return {"Authorization", "Bearer " + token.substr(0, token.size() - 1)};
  }

  std::string directory_;
  net::ManualClock clock_;
  net::Loop loop_{&clock_};
  TestLog log_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<Front> front_;
};

TEST_F(FrontTest, TakesNoBodyWhereNobodyNeedsToBeKnown) {
  EXPECT_EQ(admit("GET", "/healthz"), 0);
  EXPECT_EQ(admit("GET", "/healthz", {{"Content-Length", "0"}}), 0);
  EXPECT_EQ(admit("GET", "/healthz", {{"Content-Length", "1"}}), 413);
  EXPECT_EQ(admit("GET", "/version", {{"Transfer-Encoding", "chunked"}}), 413);
  EXPECT_EQ(admit("POST", "/healthz"), 401);
}

net::Detached ask(Front& front, const Request& request, std::optional<Reply>& into) {
  Reply reply = co_await front.answer(request);
  into.emplace(std::move(reply));
}

/// Lists that nobody takes hold memory: of them together there is a bound.
TEST_F(FrontTest, LongListsThatAreNotTakenAreBoundedTogether) {
  front_ = std::make_unique<Front>(loop_, *api_, *credentials_, Logger(), std::size_t{6} << 20);
  const std::string value(std::size_t{1} << 20, 'x');
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const std::string map = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) +
                            R"("},"data":{"k":")" + value + "\"}}";
    ApiRequest create;
    create.method = "POST";
    create.path = "/api/v1/namespaces/default/configmaps";
    create.content_type = "application/json";
    create.body = map;
    create.user = {"admin", {"system:masters"}};
    ASSERT_EQ(api_->handle(create).status, 201);
  }
  const Request list{.method = "GET",
                     .path = "/api/v1/configmaps",
                     .query = {},
                     .host = {},
                     .fields = {authorization()},
                     .body = {},
                     .peer = std::make_shared<const net::server::Peer>()};
  std::vector<std::optional<Reply>> replies(3);
  for (auto& reply : replies) ask(*front_, list, reply);
  loop_.poll();
  ASSERT_TRUE(replies[0] && replies[1] && replies[2]);
  EXPECT_EQ(replies[0]->status, 200);
  EXPECT_EQ(replies[1]->status, 200) << "the first leaves some room";
  EXPECT_EQ(replies[2]->status, 429);
  // What is sent bit by bit is the whole of it.
  ASSERT_NE(replies[0]->stream, nullptr);
  std::string body;
  while (replies[0]->stream->next(body) == net::server::BodySource::Next::kMore) {
  }
  EXPECT_GT(body.size(), std::size_t{5} << 20);
  EXPECT_TRUE(body.ends_with("}"));
  EXPECT_EQ(replies[0]->stream_size, body.size());
  EXPECT_FALSE(replies[0]->stream->is_endless());
  replies[0].reset();
  replies[2].reset();
  ask(*front_, list, replies[2]);
  loop_.poll();
  ASSERT_TRUE(replies[2]);
  EXPECT_EQ(replies[2]->status, 200);
}

/// Two pieces, and no end of its own unless it is told one.
class Pieces final : public net::server::BodySource {
 public:
  Next next(std::string& out) override {
    out += "piece";
    return ++given_ == 2 ? Next::kEnd : Next::kMore;
  }
  void on_ready(std::function<void()>) override {}

 private:
  int given_ = 0;
};

TEST(RequestCounts, ALongListIsNoWatch) {
  const auto counts = std::make_shared<RequestCounts>();
  Reply list{.stream = std::make_unique<Pieces>(), .stream_size = 10};
  counts->answered("GET", list, std::chrono::milliseconds(3));
  const auto written = [&] {
    metrics::Exposition out(metrics::Format::kText);
    counts->write(out);
    return out.finish();
  };
  EXPECT_THAT(written(), HasSubstr("edge_api_watches 0\n"));
  EXPECT_THAT(written(), HasSubstr("edge_api_request_duration_seconds_count{verb=\"GET\"} 1\n"));
  Reply watch{.stream = std::make_unique<Pieces>()};
  counts->answered("GET", watch, std::chrono::milliseconds(3));
  EXPECT_THAT(written(), HasSubstr("edge_api_watches 1\n"));
  EXPECT_THAT(written(), HasSubstr("edge_api_request_duration_seconds_count{verb=\"GET\"} 1\n"));
  EXPECT_THAT(written(), HasSubstr("edge_api_requests_total{verb=\"GET\",code=\"2xx\"} 2\n"));
  watch.stream.reset();
  EXPECT_THAT(written(), HasSubstr("edge_api_watches 0\n"));
}

TEST_F(FrontTest, AdministratorsActAsOthers) {
  const std::string path = "/api/v1/namespaces";
  const auto as = [&](const std::string& group, const std::string& of) {
    return admit("GET", of, {authorization(), {"impersonate-user", "ann"}, {"Impersonate-Group", group}});
  };
  EXPECT_EQ(admit("GET", path, {authorization()}), 0);
  EXPECT_EQ(as("edge:admins", "/api/v1/secrets"), 0);
  EXPECT_EQ(as("edge:readers", path), 0);
  EXPECT_EQ(as("edge:readers", "/api/v1/secrets"), 403);
  EXPECT_EQ(as("edge:readers:shop", path), 403);
  EXPECT_EQ(as("edge:readers:shop", "/api/v1/namespaces/shop/services"), 0);
  EXPECT_EQ(as("edge:readers:shop", "/api/v1/namespaces/shop/secrets"), 403);
  EXPECT_EQ(as("edge:readers:shop", "/api/v1/namespaces/shops/services"), 403);
  EXPECT_EQ(as("edge:readers:shop", "/api/v1/services"), 403);
  EXPECT_EQ(as("edge:readers:", "/api/v1/services"), 403);
}

TEST_F(FrontTest, NobodyElseActsAsAnother) {
  const std::string path = "/api/v1/namespaces";
  EXPECT_EQ(admit("GET", path, {authorization(), {"impersonate-user", "ann"}}), 403);
  EXPECT_EQ(admit("GET", path, {authorization(), {"Impersonate-Group", "edge:admins"}}), 403);
  EXPECT_EQ(admit("GET", path, {authorization(), {"Impersonate-Extra-Scopes", "x"}}), 403);
  EXPECT_EQ(admit("GET", path, {{"Impersonate-User", "ann"}}), 401);
  EXPECT_THAT(log_.lines().front(), StartsWith("info resource api: a request is refused status=403 user=ann "
                                               "verb=list path=/api/v1/namespaces from="));
}

TEST_F(FrontTest, LogsWritesWithTheirClient) {
  net::server::Request request{.method = "GET",
                               .path = "/api/v1/namespaces/shop/events",
                               .query = "fieldManager=edge%0Aone&dryRun=All",
                               .host = {},
                               .fields = {{"User-Agent", "edge-controller/1.0"}},
                               .body = {},
                               .peer = std::make_shared<const net::server::Peer>()};
  front_->answered(request, 200);
  EXPECT_THAT(log_.lines(), testing::IsEmpty()) << "nothing was written";
  request.method = "POST";
  front_->answered(request, 201);
  ASSERT_EQ(log_.lines().size(), 1U);
  EXPECT_EQ(log_.lines().front(),
            "debug resource api: a write method=POST path=/api/v1/namespaces/shop/events status=201 "
            "client=edge-controller/1.0 manager=edge?one");
}

TEST_F(FrontTest, TellsManyRefusalsByTheirNumber) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(admit("GET", "/api"), 401);
  EXPECT_EQ(log_.lines().size(), 20U);
  // Without another one, too.
  clock_.advance(std::chrono::minutes(2));
  loop_.poll();
  ASSERT_EQ(log_.lines().size(), 21U);
  EXPECT_EQ(log_.lines().back(), "warn resource api: further refusals were not logged count=80");
  admit("GET", "/api");
  EXPECT_THAT(log_.lines().back(), StartsWith("warn resource api: a request is refused status=401 user= "));
}

}  // namespace
}  // namespace edge::resource_api::http
