// TLS between a channel's user and its socket.
//
// OpenSSL's output is gathered in a buffer of the thread and sent with one system call for many records; OpenSSL never
// sees a full socket. What the socket did not accept is kept here, and the sender is told of one byte less than was
// taken, so that it offers that byte again when there is room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/buffer.h"
#include "net/loop.h"
#include "net/tls/client.h"
#include "net/tls/peer_identity.h"
#include "net/tls/server.h"

namespace edge::net::tls {

/// The subject of a certificate: CN, and each O; with the serial number.
struct SubjectNames {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string serial;  ///< bytes, the most significant first
};

/// What the handshake established of the peer's certificate; a resumed session has the result of its first handshake.
struct PeerVerification {
  bool presented = false;
  /// Why it does not verify, as OpenSSL's text, which is static; empty: it verifies, or none was presented.
  std::string_view fault;

  bool verified() const { return presented && fault.empty(); }
};

/// The buffer for the records of one call. One per thread, shared by its layers; empty between calls.
class RecordRoom {
 public:
  /// Bytes of plain text encrypted before they are sent.
  static constexpr std::size_t kPlain = std::size_t{64} << 10;
  static constexpr std::size_t kRecord = std::size_t{16} << 10;

  RecordRoom() : sealed_(std::make_unique<char[]>(kSealed)), plain_(std::make_unique<char[]>(kRecord)) {}

 private:
  friend class RecordLayer;
  static constexpr std::size_t kSealed = kPlain + 2048;
  std::unique_ptr<char[]> sealed_;
  std::unique_ptr<char[]> plain_;
  std::size_t used_ = 0;
};

class PieceCursor;

/// For the thread of its channel. `room` must outlive it.
class RecordLayer final : public Layer {
 public:
  /// Makes the server side. `sites` must have one.
  static std::unique_ptr<RecordLayer> accept(std::shared_ptr<const Sites> sites, RecordRoom& room);
  /// Makes the client side, resuming the session in `resumption`, where the server's next session is stored.
  static std::unique_ptr<RecordLayer> connect(std::shared_ptr<const ClientContext> context,
                                              std::shared_ptr<Resumption> resumption, RecordRoom& room);
  ~RecordLayer() override;

  enum class Handshake : std::uint8_t {
    kDone,
    kRead,   ///< call again when the channel is readable
    kWrite,  ///< or writable
    kFailed,
    kAwaits,  ///< of the server side: there is no certificate for server_name() yet; call go_on(), then again
  };
  /// Continues the handshake; until it returns kDone no other function may be called.
  Handshake handshake(Channel& channel);
  /// After kAwaits: who gets certificates on demand. Valid until the next call.
  const OnDemand* wanted_by() const { return wanted_by_; }
  /// After kAwaits: goes on with these sites; null: with those that are there, and without waiting any more.
  void go_on(std::shared_ptr<const Sites> sites);
  /// Returns the reason of a failure, as OpenSSL's text.
  const std::string& fault() const { return fault_; }
  /// Returns whether it failed because the client sent a plain-text HTTP request. Nothing was sent to the client yet.
  bool spoke_http() const { return spoke_http_; }
  /// Returns whether the peer has sent anything yet.
  bool heard() const;

  // After the handshake:
  /// Returns `h2`, `http/1.1`, or empty when neither was negotiated.
  std::string_view protocol() const;
  /// Returns the client's SNI, canonical; empty: none.
  const std::string& server_name() const { return server_name_; }
  bool resumed() const;
  /// Returns the version, `TLSv1.3`, and below, the cipher's name. Static lifetime.
  std::string_view version() const;
  std::string_view cipher() const;
  PeerVerification peer_verification() const;
  /// Returns the peer's certificate; null: it has shown none.
  Handle<x509_st> peer_certificate() const;
  /// Returns what it says of the peer; null: it has shown none.
  std::unique_ptr<const PeerIdentity> peer_identity() const;
  /// Returns the subject of the peer's certificate as one line; empty without one that verifies.
  std::string peer_subject() const;
  /// Returns the names in that subject, as UTF-8; nullopt without a certificate that verifies, or when one is invalid.
  std::optional<SubjectNames> subject_names() const;

  // Layer
  Transfer receive(Channel& channel, std::span<char> into) override;
  Transfer send(Channel& channel, std::span<const iovec> pieces) override;
  bool finish(Channel& channel) override;
  void reset(Channel& channel) override;

 private:
  friend struct ServerCallbacks;
  friend struct ClientCallbacks;
  friend struct ChannelCallbacks;
  enum class Fill : std::uint8_t { kMore, kDrained, kEnd, kFailed };

  explicit RecordLayer(RecordRoom& room) : room_(room) {}
  bool open(ssl_ctx_st* context);
  /// Sends buffered records as far as the socket accepts them. False: the connection is broken.
  bool flush(Channel& channel);
  /// Encrypts one call's data into the buffer. \returns its plain bytes; 0: failed.
  std::size_t seal(PieceCursor& at);
  void fail(const char* what);
  bool accepts_peer();

  // Called by OpenSSL.
  int take_in(char* into, int size);
  int put_out(const char* bytes, int size);

  RecordRoom& room_;
  Handle<ssl_st> ssl_;
  /// Set during calls of OpenSSL.
  int fd_ = -1;
  Fill fill_ = Fill::kMore;
  /// Reads of the socket in this call that yielded nothing for the user.
  std::uint8_t idle_reads_ = 0;
  bool failed_ = false;
  bool spoke_http_ = false;
  /// The socket is broken for sending. What the peer sent before is still read.
  bool unsendable_ = false;
  /// The peer has sent close_notify.
  bool ended_ = false;
  /// A byte was taken that the sender was not told of, and will offer again.
  bool owes_ = false;
  Buffer unsent_;
  std::string server_name_;
  std::string fault_;
  /// The first fault of a client's certificate that is accepted all the same: X509_V_OK or an X509_V_ERR_ number.
  int peer_fault_ = 0;

  // Until the handshake is done.
  std::shared_ptr<const Sites> sites_;
  const Site* site_ = nullptr;
  const OnDemand* wanted_by_ = nullptr;
  bool awaits_ = true;

  std::shared_ptr<const ClientContext> client_;
  std::shared_ptr<Resumption> resumption_;
};

}  // namespace edge::net::tls
