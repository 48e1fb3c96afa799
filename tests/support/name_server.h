// A name server of a test's own on 127.0.0.1, over UDP and TCP (RFC 1035): it answers as it is told to, name by name,
// until it is told otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace edge::test {

class NameServer {
 public:
  struct Service {
    int priority = 0;
    int weight = 0;
    int port = 0;
    std::string host{};
  };
  enum class Kind : std::uint8_t { kRecords, kNoSuchName, kFails, kSilent };
  struct Answer {
    Kind kind = Kind::kRecords;
    std::vector<std::string> addresses{};  ///< of both families
    std::vector<Service> services{};
    std::uint32_t lifetime = 0;  ///< seconds
    bool truncated = false;      ///< over UDP: no records, and the bit that says so
  };

  NameServer();
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  /// `127.0.0.1:5353`
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// `name`: lower case, without a dot at its end. Of a name that was never set there is none.
  void set(const std::string& name, Answer answer);
  /// Questions for a name so far, of all types.
  int asked(const std::string& name) const;
  int asked_over_tcp() const;

 private:
  void run();
  void serve_datagram();
  void serve_stream();
  /// Empty: none is given.
  std::string answer_to(std::string_view query, bool over_tcp);

  int udp_ = -1;
  int tcp_ = -1;
  int ended_[2] = {-1, -1};
  int port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::map<std::string, int> asked_;
  int asked_over_tcp_ = 0;
  std::thread thread_;
};

}  // namespace edge::test
