#include "net/tls/record_layer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include <openssl/err.h>

#include "net/tls/openssl.h"

namespace edge::net::tls {
namespace {

/// Reads of the socket in one call that bring nothing to the user: updates of keys and empty records, which a peer
/// could send for ever.
constexpr std::uint8_t kMaxIdleReads = 16;
/// Answers of OpenSSL's own that a peer may leave in our hands.
constexpr std::size_t kMaxUnsent = std::size_t{256} << 10;

/// What other users of OpenSSL on this thread have left behind would pass for a fault of this connection. Mostly there
/// is nothing, and to look costs a third of clearing.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

/// Iterates over the pieces of a send.
class PieceCursor {
 public:
  explicit PieceCursor(std::span<const iovec> pieces) : pieces_(pieces) {
    for (const iovec& one : pieces) left_ += one.iov_len;
    settle();
  }
  std::size_t left() const { return left_; }
  bool done() const { return pieces_.empty(); }
  std::string_view piece() const {
    return std::string_view(static_cast<const char*>(pieces_[0].iov_base), pieces_[0].iov_len).substr(offset_);
  }
  void advance(std::size_t size) {
    offset_ += size;
    left_ -= size;
    settle();
  }

 private:
  void settle() {
    while (!pieces_.empty() && offset_ == pieces_[0].iov_len) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
  }
  std::span<const iovec> pieces_;
  std::size_t offset_ = 0;
  std::size_t left_ = 0;
};

// ---- What OpenSSL calls -------------------------------------------------------------------------------------------

struct ChannelCallbacks {
  static RecordLayer& layer(BIO* bio) { return *static_cast<RecordLayer*>(BIO_get_data(bio)); }
  static int read(BIO* bio, char* into, int size) {
    BIO_clear_retry_flags(bio);
    const int got = layer(bio).take_in(into, size);
    if (got < 0 && layer(bio).fill_ == RecordLayer::Fill::kDrained) BIO_set_retry_read(bio);
    return got;
  }
  static int write(BIO* bio, const char* bytes, int size) { return layer(bio).put_out(bytes, size); }
  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) return layer(bio).fill_ == RecordLayer::Fill::kEnd ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }
};

BIO_METHOD* channel_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "edge channel");
    BIO_meth_set_read(made, ChannelCallbacks::read);
    BIO_meth_set_write(made, ChannelCallbacks::write);
    BIO_meth_set_ctrl(made, ChannelCallbacks::control);
    return made;
  }();
  return method;
}

bool RecordLayer::heard() const { return ::BIO_number_read(::SSL_get_rbio(ssl_.get())) != 0; }

int RecordLayer::take_in(char* into, int size) {
  if (fill_ != Fill::kMore) return fill_ == Fill::kEnd ? 0 : -1;
  if (idle_reads_++ == kMaxIdleReads) {
    fill_ = Fill::kDrained;
    return -1;
  }
  const Transfer got = net::receive(fd_, {into, static_cast<std::size_t>(size)});
  switch (got.kind) {
    case Transfer::Kind::kDone:
      // A short read took all there was.
      if (got.bytes < static_cast<std::size_t>(size)) fill_ = Fill::kDrained;
      return static_cast<int>(got.bytes);
    case Transfer::Kind::kWouldBlock:
      fill_ = Fill::kDrained;
      return -1;
    case Transfer::Kind::kEnd:
      fill_ = Fill::kEnd;
      return 0;
    case Transfer::Kind::kFailed:
      break;
  }
  fill_ = Fill::kFailed;
  return -1;
}

int RecordLayer::put_out(const char* bytes, int size) {
  const std::string_view record(bytes, static_cast<std::size_t>(size));
  if (!unsent_.empty() || room_.used_ + record.size() > RecordRoom::kSealed) {
    unsent_.append({room_.sealed_.get(), std::exchange(room_.used_, 0)});
    unsent_.append(record);
  } else {
    std::memcpy(room_.sealed_.get() + room_.used_, record.data(), record.size());
    room_.used_ += record.size();
  }
  return size;
}

// ---- Its life -----------------------------------------------------------------------------------------------------

RecordLayer::~RecordLayer() {
  // Else OpenSSL would take a connection that was closed without ceremony for a bad one, and its session with it.
  if (ssl_ != nullptr && !failed_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

bool RecordLayer::open(ssl_ctx_st* context) {
  ssl_.reset(SSL_new(context));
  BIO* const bio = BIO_new(channel_method());
  if (ssl_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    failed_ = true;
    fault_ = "out of memory";
    return false;
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  return true;
}

void RecordLayer::fail(const char* what) {
  failed_ = true;
  if (!fault_.empty()) return;
  const long verified = SSL_get_verify_result(ssl_.get());
  if (fill_ == Fill::kEnd) {
    fault_ = "the peer closed the connection";
  } else if (fill_ == Fill::kFailed) {
    fault_ = "the connection was reset";
  } else if (verified != X509_V_OK) {
    fault_ = X509_verify_cert_error_string(verified);
  } else {
    spoke_http_ =
        ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
    const bool no_tls =
        ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER;
    fault_ = no_tls ? "the peer does not speak TLS" : ERR_peek_error() != 0 ? take_error() : what;
  }
  ERR_clear_error();
}

RecordLayer::Handshake RecordLayer::handshake(Channel& channel) {
  if (failed_) return Handshake::kFailed;
  ERR_clear_error();
  fd_ = channel.fd();
  fill_ = Fill::kMore;
  idle_reads_ = 0;
  const int done = SSL_do_handshake(ssl_.get());
  const int error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), done);
  if (error == SSL_ERROR_WANT_CLIENT_HELLO_CB) return Handshake::kAwaits;
  if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) fail("handshake failed");
  // What the peer is told of a failure goes out all the same.
  const bool connected = flush(channel);
  if (failed_ || !connected) return Handshake::kFailed;
  if (error == SSL_ERROR_WANT_READ) channel.exhausted();
  // Asks the channel to wait for room.
  if (!unsent_.empty()) channel.send({});
  if (!unsent_.empty()) return Handshake::kWrite;
  if (error == SSL_ERROR_WANT_READ) return Handshake::kRead;
  if (client_ != nullptr && !accepts_peer()) return Handshake::kFailed;
  sites_.reset();
  site_ = nullptr;
  return Handshake::kDone;
}

void RecordLayer::go_on(std::shared_ptr<const Sites> sites) {
  wanted_by_ = nullptr;
  if (sites == nullptr) {
    awaits_ = false;
  } else {
    sites_ = std::move(sites);
  }
}

bool RecordLayer::flush(Channel& channel) {
  std::string_view bytes(room_.sealed_.get(), std::exchange(room_.used_, 0));
  if (unsendable_) return false;
  const bool kept = !unsent_.empty();
  if (kept) {
    unsent_.append(bytes);
    bytes = unsent_.view();
  }
  if (bytes.empty()) return true;
  const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  const Transfer sent = net::send(channel.fd(), {&piece, 1});
  if (sent.kind == Transfer::Kind::kFailed) {
    unsendable_ = true;
    return false;
  }
  const std::size_t gone = sent.kind == Transfer::Kind::kDone ? sent.bytes : 0;
  if (!kept) {
    unsent_.append(bytes.substr(gone));
  } else {
    unsent_.consume(gone);
    if (unsent_.empty()) unsent_.release();
  }
  return true;
}

std::string_view RecordLayer::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool RecordLayer::resumed() const { return SSL_session_reused(ssl_.get()) == 1; }

std::string_view RecordLayer::version() const { return SSL_get_version(ssl_.get()); }

std::string_view RecordLayer::cipher() const { return SSL_get_cipher_name(ssl_.get()); }

PeerVerification RecordLayer::peer_verification() const {
  PeerVerification result{.presented = SSL_get0_peer_certificate(ssl_.get()) != nullptr, .fault = {}};
  const long fault = SSL_get_verify_result(ssl_.get());
  if (result.presented && fault != X509_V_OK) result.fault = X509_verify_cert_error_string(fault);
  return result;
}

Handle<x509_st> RecordLayer::peer_certificate() const { return Handle<x509_st>(SSL_get1_peer_certificate(ssl_.get())); }

std::unique_ptr<const PeerIdentity> RecordLayer::peer_identity() const {
  const X509* const peer = SSL_get0_peer_certificate(ssl_.get());
  if (peer == nullptr) return nullptr;
  return std::make_unique<const PeerIdentity>(identity_of(*peer, peer_verification().verified()));
}

std::string RecordLayer::peer_subject() const {
  if (!peer_verification().verified()) return {};
  X509* const peer = SSL_get0_peer_certificate(ssl_.get());
  BIO* const out = BIO_new(BIO_s_mem());
  X509_NAME_print_ex(out, X509_get_subject_name(peer), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out, &text);
  std::string subject(text, static_cast<std::size_t>(std::max(size, 0L)));
  BIO_free(out);
  return subject;
}

namespace {

/// Names with a NUL or another control byte in them are nobody's: they could pass for a shorter one.
std::optional<std::string> text_of(const X509_NAME_ENTRY* entry) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry));
  if (size < 0) return std::nullopt;
  std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) return std::nullopt;
  return text;
}

}  // namespace

std::optional<SubjectNames> RecordLayer::subject_names() const {
  if (!peer_verification().verified()) return std::nullopt;
  const X509* const peer = SSL_get0_peer_certificate(ssl_.get());
  const X509_NAME* const subject = X509_get_subject_name(peer);
  SubjectNames name;
  const ASN1_INTEGER* const serial = X509_get0_serialNumber(peer);
  name.serial.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
                     static_cast<std::size_t>(ASN1_STRING_length(serial)));
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(subject, i);
    const int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (kind != NID_commonName && kind != NID_organizationName) continue;
    std::optional<std::string> text = text_of(entry);
    if (!text) return std::nullopt;
    if (kind == NID_commonName) {
      name.common_name = std::move(*text);
    } else {
      name.organizations.push_back(std::move(*text));
    }
  }
  return name;
}

// ---- Layer --------------------------------------------------------------------------------------------------------

Transfer RecordLayer::receive(Channel& channel, std::span<char> into) {
  using Kind = Transfer::Kind;
  if (failed_) return {Kind::kFailed, 0};
  if (ended_) return {Kind::kEnd, 0};
  forget_errors();
  fd_ = channel.fd();
  fill_ = Fill::kMore;
  idle_reads_ = 0;
  std::size_t got = 0;
  bool dry = false;
  while (got < into.size() && !dry) {
    std::size_t size = 0;
    if (SSL_read_ex(ssl_.get(), into.data() + got, into.size() - got, &size) == 1) {
      got += size;
      idle_reads_ = 0;
      dry = fill_ == Fill::kDrained && SSL_has_pending(ssl_.get()) == 0;
      continue;
    }
    const int error = SSL_get_error(ssl_.get(), 0);
    if (error == SSL_ERROR_ZERO_RETURN) {
      ended_ = true;
      break;
    }
    dry = error == SSL_ERROR_WANT_READ;
    // An end that the peer did not tell of may be somebody else's doing: it counts as broken.
    if (!dry) fail("broken record");
    if (failed_) break;
  }
  flush(channel);
  if (unsent_.size() > kMaxUnsent) failed_ = true;
  if (dry && idle_reads_ > kMaxIdleReads) {
    channel.defer();
  } else if (dry) {
    channel.exhausted();
  }
  if (got != 0) return {Kind::kDone, got};
  if (failed_) return {Kind::kFailed, 0};
  return {ended_ ? Kind::kEnd : Kind::kWouldBlock, 0};
}

// Small pieces share a record; a large one is sealed from where it lies.
std::size_t RecordLayer::seal(PieceCursor& at) {
  std::size_t sealed = 0;
  while (!at.done() && sealed < RecordRoom::kPlain) {
    std::string_view record = at.piece().substr(0, RecordRoom::kRecord);
    if (record.size() == RecordRoom::kRecord || record.size() == at.left()) {
      at.advance(record.size());
    } else {
      std::size_t size = 0;
      while (!at.done() && size < RecordRoom::kRecord) {
        const std::string_view part = at.piece().substr(0, RecordRoom::kRecord - size);
        std::memcpy(room_.plain_.get() + size, part.data(), part.size());
        size += part.size();
        at.advance(part.size());
      }
      record = {room_.plain_.get(), size};
    }
    std::size_t written = 0;
    if (SSL_write_ex(ssl_.get(), record.data(), record.size(), &written) != 1 || written != record.size()) {
      fail("cannot seal a record");
      return 0;
    }
    sealed += written;
  }
  return sealed;
}

Transfer RecordLayer::send(Channel& channel, std::span<const iovec> pieces) {
  using Kind = Transfer::Kind;
  if (failed_ || !flush(channel)) return {Kind::kFailed, 0};
  if (!unsent_.empty()) return {Kind::kWouldBlock, 0};
  forget_errors();
  fd_ = channel.fd();
  PieceCursor at(pieces);
  std::size_t taken = 0;
  if (owes_ && !at.done()) {
    at.advance(1);
    taken = 1;
    owes_ = false;
  }
  while (!at.done()) {
    const std::size_t sealed = seal(at);
    if (sealed == 0 || !flush(channel)) return {Kind::kFailed, 0};
    taken += sealed;
    if (unsent_.empty()) continue;
    owes_ = true;
    --taken;
    break;
  }
  if (taken == 0) return {Kind::kWouldBlock, 0};
  return {Kind::kDone, taken};
}

bool RecordLayer::finish(Channel& channel) {
  if (failed_ || SSL_is_init_finished(ssl_.get()) != 1) return false;
  forget_errors();
  fd_ = channel.fd();
  SSL_shutdown(ssl_.get());
  const bool sent = flush(channel) && unsent_.empty();
  return ::shutdown(channel.fd(), SHUT_WR) == 0 && sent;
}

void RecordLayer::reset(Channel& channel) { net::reset_on_close(channel.fd()); }

}  // namespace edge::net::tls
