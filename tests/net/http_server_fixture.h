// A small server over real sockets for the tests of it, with answers of every kind: whole, in pieces, as a stream that
// the test fills, without end.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/server/http_server.h"
#include "tests/support/coding.h"
#include "tests/support/connection.h"

namespace edge::net::server {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Connection;
using test::Deadline;
using test::Message;

inline Deadline soon() { return {std::chrono::steady_clock::now() + seconds(20)}; }

/// What the test and the server's thread tell each other.
class Gauge {
 public:
  void add(int change) {
    const std::scoped_lock lock(mutex_);
    value_ += change;
    changed_.notify_all();
  }
  bool reaches(int value) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(20), [&] { return value_ == value; });
  }
  int value() {
    const std::scoped_lock lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int value_ = 0;
};

/// Gives lines when it is told to, or without end.
class Lines final : public BodySource {
 public:
  struct Shared {
    Loop* loop = nullptr;
    Lines* live = nullptr;
    Gauge alive;
    std::atomic<std::size_t> given{0};
  };
  Lines(Shared& shared, bool endless) : shared_(shared), endless_(endless) {
    shared_.live = this;
    shared_.alive.add(1);
  }
  ~Lines() override {
    if (shared_.live == this) shared_.live = nullptr;
    shared_.alive.add(-1);
  }
  Next next(std::string& out) override {
    if (endless_) {
      out.append(32768, 'x');
      shared_.given += 32768;
      return Next::kMore;
    }
    out += std::exchange(waiting_, {});
    return ended_ ? Next::kEnd : Next::kNothingYet;
  }
  void on_ready(std::function<void()> ready) override { ready_ = std::move(ready); }

  void put(const std::string& text, bool last) {
    waiting_ += text;
    ended_ = last;
  }
  void say(const std::string& text, bool last) {
    put(text, last);
    ready_();
  }

 private:
  Shared& shared_;
  bool endless_;
  bool ended_ = false;
  std::string waiting_;
  std::function<void()> ready_;
};

/// As lists are: much of the same.
inline std::string list_text() {
  std::string text;
  while (text.size() < 3'000'000) text += test::pattern(1000);
  return text;
}

/// What is known as a whole and goes out in pieces.
class Whole final : public BodySource {
 public:
  explicit Whole(std::string body) : body_(std::move(body)) {}
  Next next(std::string& out) override {
    const std::size_t size = std::min<std::size_t>(100'000, body_.size() - at_);
    out.append(body_, at_, size);
    at_ += size;
    return at_ == body_.size() ? Next::kEnd : Next::kMore;
  }
  void on_ready(std::function<void()>) override {}
  bool is_endless() const override { return false; }

 private:
  std::string body_;
  std::size_t at_ = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void serve(ServerOptions options = {}) {
    options.address = parse_ip("127.0.0.1");
    auto started = ServerThread::start(std::move(options), [this](Loop& loop) -> Result<Handler> {
      lines_.loop = &loop;
      return Handler([this](const Request& request) { return answer(request); });
    });
    ASSERT_TRUE(started.ok()) << started.error().text;
    server_ = std::move(*started);
  }
  Task<Reply> answer(const Request& request) {
    ++asked_;
    if (request.path == "/lines" || request.path == "/endless") {
      return Reply{.content_type = "text/plain", .stream = std::make_unique<Lines>(lines_, request.path == "/endless")};
    }
    if (request.path == "/known" || request.path == "/short" || request.path == "/long") {
      auto body = std::make_unique<Lines>(lines_, false);
      body->put("twelve bytes", true);
      const std::size_t size = request.path == "/known" ? 12 : request.path == "/short" ? 13 : 11;
      return Reply{.content_type = "text/plain", .stream = std::move(body), .stream_size = size};
    }
    if (request.path == "/list") {
      return Reply{
          .content_type = "text/plain", .stream = std::make_unique<Whole>(list_text()), .stream_size = 3'000'000};
    }
    if (request.path == "/large") return Reply{.content_type = "text/plain", .body = test::pattern(3'000'000)};
    if (request.path == "/plain") return Reply{.content_type = "text/plain", .body = std::string(100'000, 'p')};
    if (request.path == "/nothing") return Reply{.status = 204};
    if (request.path == "/split") return Reply{.fields = {{"X-Name", "a\r\nX-Evil: b"}, {"Content-Length", "77"}}};
    std::string text = request.method + " " + request.path + "?" + request.query + " " + request.body;
    if (request.peer->name) text += " by " + request.peer->name->common_name;
    return Reply{.content_type = "text/plain", .body = std::move(text)};
  }
  std::uint16_t port() const { return server_->address().port; }
  std::unique_ptr<Connection> connect() {
    Result<int> fd = Connection::dial(port());
    EXPECT_TRUE(fd.ok());
    return std::make_unique<Connection>(*fd, soon());
  }
  /// From an address of the node's own.
  std::unique_ptr<Connection> connect_from(const char* address) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in end{};
    end.sin_family = AF_INET;
    ::inet_pton(AF_INET, address, &end.sin_addr);
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&end), sizeof end), 0);
    end.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    end.sin_port = htons(port());
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&end), sizeof end), 0);
    return std::make_unique<Connection>(fd, soon());
  }
  /// Head and body of the next answer: `200 text`.
  static std::string next_answer(Connection& connection) {
    Result<Message> head = connection.receive_head();
    if (!head) return "no answer: " + head.error().text;
    Result<std::string> body = connection.receive_body(*head);
    if (!body) return "no body: " + body.error().text;
    return head->start_line.substr(9, 3) + " " + *body;
  }
  std::string ask(const std::string& text) {
    const auto connection = connect();
    EXPECT_TRUE(connection->send(text).ok());
    return next_answer(*connection);
  }
  void say(const std::string& text, bool last = false) {
    lines_.loop->post([this, text, last] {
      if (lines_.live != nullptr) lines_.live->say(text, last);
    });
  }

  Lines::Shared lines_;
  std::atomic<int> asked_ = 0;
  std::unique_ptr<ServerThread> server_;
};

}  // namespace edge::net::server
