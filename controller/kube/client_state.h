// Shared by the files of the client.
#pragma once

#include <memory>

#include "controller/kube/backoff.h"
#include "controller/kube/client.h"
#include "controller/kube/credentials.h"
#include "net/client/http_client.h"

namespace edge::kube {

struct Client::State {
  State(net::Loop& on, Config with, ClientOptions chosen);

  /// Returns the header lines of a call.
  std::string fields(const Request& request, const Presented& presented) const;
  net::client::Call call(const Request& request, std::string_view target, std::string_view lines,
                         const Presented& presented, net::Time until) const;
  /// Returns why there was no response; names the server.
  Failure failure_of(const net::client::Answer& answer) const;
  /// For a response with status 400 and above.
  static Failure refusal_of(const net::client::Answer& head, std::string_view body);
  static Failure failure_of(const Credentials::Got& got);

  net::Loop& loop;
  const Config config;
  const ClientOptions options;
  net::client::Resolver resolver;
  net::tls::RecordRoom records;
  net::client::HttpClient http;
  std::unique_ptr<Credentials> credentials;
};

}  // namespace edge::kube
