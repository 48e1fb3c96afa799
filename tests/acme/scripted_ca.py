"""A CA that speaks ACME (RFC 8555) as far as it is told to, for what no real one does on demand: it lies, stalls, limits
rates, forgets accounts and orders. It checks nonces, and that requests are of one key, but no signature: real CAs do.

  scripted_ca.py WORK_DIR      prints `directory URL`; control by POST /control with a JSON object of settings

Settings: fault (words below), times (how often; -1: always), http_ports (where names are validated: at each of them, as CAs
look from several places; any_port: at one of them), lifetime (seconds), renew (an ARI window, [from, until]), paths (what
stands before all but the directory's), most_orders (rates are limited beyond), ocsp (URL of a responder in certificates, which
then have must-staple; WORK_DIR/index.txt has them for `openssl ocsp`). `GET /log` tells what was asked: one line a request;
`GET /most` how many orders were under way at once."""
import base64
import datetime
import http.client
import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time

FAULTS = ("", "stall", "rate-limit", "forget-account", "forget-order", "other-name", "garbage", "huge", "redirect",
          "no-nonce", "bad-nonce", "server-error", "invalid", "slow-issuing", "slow-validation")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class State:
    def __init__(self, work):
        self.work = work
        self.lock = threading.Lock()
        self.log = []
        self.settings = {"fault": "", "times": -1, "http_ports": [80], "lifetime": 90 * 86400, "renew": None, "paths": "",
                         "most_orders": 10**9, "any_port": False, "ocsp": ""}
        self.nonces = set()
        self.accounts = {}
        self.orders = {}
        self.count = 0
        self.under_way = self.most_under_way = 0

    def takes(self, fault):
        """Whether this fault is to be shown now."""
        if self.settings["fault"] != fault or self.settings["times"] == 0:
            return False
        self.settings["times"] -= 1
        return True

    def number(self):
        self.count += 1
        return self.count

    def issue(self, request_der, host):
        n = self.number()
        request, extensions, leaf = (self.work / f"{n}.{end}" for end in ("csr", "ext", "pem"))
        request.write_bytes(request_der)
        ocsp = self.settings["ocsp"]
        more = f"authorityInfoAccess=OCSP;URI:{ocsp}\ntlsfeature=status_request\n" if ocsp else ""
        extensions.write_text(f"subjectAltName=DNS:{host}\nauthorityKeyIdentifier=keyid\n{more}")
        subprocess.run(["openssl", "x509", "-req", "-inform", "DER", "-in", request, "-CA", self.work / "ca.pem", "-CAkey",
                        self.work / "ca.key", "-set_serial", str(1000 + n), "-days", str(max(1, self.settings["lifetime"] // 86400)),
                        "-extfile", extensions, "-out", leaf], check=True, stderr=subprocess.DEVNULL)
        serial = f"{1000 + n:X}"
        with open(self.work / "index.txt", "a") as index:
            index.write(f"V\t400101000000Z\t\t{serial.zfill(len(serial) + len(serial) % 2)}\tunknown\t/CN={host}\n")
        self.have_index_read(ocsp)
        return leaf.read_text() + (self.work / "ca.pem").read_text()

    def have_index_read(self, ocsp):
        """openssl's responder looks whether its index has changed before it waits for a connection: the first request after a
        change is answered by the index of before."""
        if ocsp:
            # Where the responder is away, as some tests want it, this fails.
            subprocess.run(["openssl", "ocsp", "-issuer", self.work / "ca.pem", "-serial", "1", "-url", ocsp, "-timeout", "5", "-noverify"],
                           check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *arguments):
        pass

    def base(self):
        return f"http://{self.headers['Host']}{self.state.settings['paths']}"

    def where(self):
        """The path within the CA; one of before it has moved is none."""
        paths = self.state.settings["paths"]
        return self.path.removeprefix(paths) if self.path.startswith(paths) else "/moved"

    def answer(self, status, body=None, fields=(), text=None):
        data = text if text is not None else (json.dumps(body) if body is not None else "")
        data = data.encode() if isinstance(data, str) else data
        self.send_response(status)
        with self.state.lock:
            nonce = f"n{self.state.number()}"
            if not self.state.takes("no-nonce"):
                self.state.nonces.add(nonce)
                self.send_header("Replay-Nonce", nonce)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def problem(self, status, kind, detail="told to", fields=()):
        self.answer(status, {"type": f"urn:ietf:params:acme:error:{kind}", "detail": detail, "status": status}, fields)

    def do_HEAD(self):
        self.answer(200)

    def do_GET(self):
        if self.path == "/log":
            return self.answer(200, text="\n".join(self.state.log))
        if self.path == "/most":
            return self.answer(200, text=str(self.state.most_under_way))
        self.note()
        if self.path == "/dir":
            base = self.base()
            directory = {"newNonce": base + "/nonce", "newAccount": base + "/account", "newOrder": base + "/new-order"}
            if self.state.settings["renew"]:
                directory["renewalInfo"] = base + "/renewal"
            return self.answer(200, directory)
        if self.path.startswith("/renewal/"):
            begin, end = (datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                          for at in self.state.settings["renew"])
            return self.answer(200, {"suggestedWindow": {"start": begin, "end": end}})
        return self.answer(404)

    def note(self, more=""):
        with self.state.lock:
            self.state.log.append(f"{self.command} {self.path} {more}".rstrip())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/control":
            with self.state.lock:
                self.state.settings.update(json.loads(body))
            return self.answer(200)
        jws = json.loads(body)
        header = json.loads(decode(jws["protected"]))
        payload = decode(jws["payload"])
        self.note()
        state = self.state
        with state.lock:
            fresh = header["nonce"] in state.nonces
            state.nonces.discard(header["nonce"])
            bad = state.takes("bad-nonce")
        if not fresh or bad:
            return self.problem(400, "badNonce")
        if header["url"] != f"http://{self.headers['Host']}{self.path}":
            return self.problem(400, "malformed", "the URL is another")
        if self.where() == "/moved":
            return self.problem(404, "malformed", "the CA has moved")
        return self.general_fault() or self.serve(header, payload)

    def general_fault(self):
        """The faults that any request may meet but the registration."""
        state = self.state
        if self.where() == "/account":
            return False
        words = ("stall", "garbage", "huge", "redirect", "server-error", "rate-limit")
        with state.lock:
            fault = next((word for word in words if state.takes(word)), None)
        if fault == "stall":
            time.sleep(40)
        elif fault == "garbage":
            self.answer(200, text="<html>\x00 {{{")
        elif fault == "huge":
            self.answer(200, text="[" * 5_000_000)
        elif fault == "redirect":
            self.answer(302, fields=[("Location", "http://127.0.0.1:1/")])
        elif fault == "server-error":
            self.problem(500, "serverInternal")
        elif fault == "rate-limit":
            self.problem(429, "rateLimited", "too many certificates", [("Retry-After", "3600")])
        return fault is not None

    def serve(self, header, payload):
        state, base = self.state, self.base()
        if self.where() == "/account":
            key = json.dumps(header["jwk"], sort_keys=True)
            with state.lock:
                known = key in state.accounts
                account = state.accounts.setdefault(key, f"{base}/account/{state.number()}")
                self.state.log.append(f"{'known' if known else 'new'} account {payload.decode()}")
            return self.answer(200 if known else 201, {"status": "valid", "contact": json.loads(payload).get("contact", [])},
                               [("Location", account)])
        with state.lock:
            if state.takes("forget-account"):
                state.accounts.clear()
            registered = header.get("kid") in state.accounts.values()
        if not registered:
            return self.problem(400, "accountDoesNotExist")
        if self.where() == "/new-order":
            host = json.loads(payload)["identifiers"][0]["value"]
            with state.lock:
                limited = len(state.orders) >= state.settings["most_orders"]
                if limited:
                    state.log.append(f"limited {host}")
            if limited:
                return self.problem(429, "rateLimited", "too many orders", [("Retry-After", "3600")])
            with state.lock:
                number = str(state.number())
                state.under_way += 1
                state.most_under_way = max(state.most_under_way, state.under_way)
                state.orders[number] = {"host": host, "status": "pending", "token": f"token{number}", "error": None,
                                        "thumbprint": header["kid"]}
                self.state.log.append(f"order {host}{' replaces' if b'replaces' in payload else ''}")
            return self.answer(201, self.order(number), [("Location", f"{base}/order/{number}")])
        kind, number = self.where().split("/")[1:3]
        with state.lock:
            if kind == "order" and state.takes("forget-order"):
                state.orders.pop(number, None)
            order = state.orders.get(number)
        if order is None:
            return self.problem(404, "malformed", "no such order")
        if kind == "order":
            return self.answer(200, self.order(number))
        if kind == "authz":
            return self.answer(200, self.authorization(number))
        if kind == "challenge":
            with state.lock:
                slow = state.takes("slow-validation")
            if slow:
                threading.Timer(3, self.validate, [order]).start()
            else:
                self.validate(order)
            return self.answer(200, {"type": "http-01", "status": "processing", "url": self.base() + self.where(),
                                     "token": order["token"]})
        if kind == "finalize":
            if order["status"] != "ready":
                return self.problem(403, "orderNotReady")
            with state.lock:
                other = state.takes("other-name")
                slow = state.takes("slow-issuing")
            order["chain"] = state.issue(decode(json.loads(payload)["csr"]), "other.example.test" if other else order["host"])
            order["status"] = "processing" if slow else "valid"
            if slow:
                threading.Timer(3, lambda: order.update(status="valid")).start()
            return self.answer(200, self.order(number))
        if kind == "cert":
            with state.lock:
                state.under_way -= 1
            return self.answer(200, text=order["chain"], fields=[("Content-Type", "application/pem-certificate-chain")])
        return self.answer(404)

    def order(self, number):
        order, base = self.state.orders[number], self.base()
        body = {"status": order["status"], "identifiers": [{"type": "dns", "value": order["host"]}],
                "authorizations": [f"{base}/authz/{number}"], "finalize": f"{base}/finalize/{number}"}
        if order["status"] == "valid":
            body["certificate"] = f"{base}/cert/{number}"
        if order["error"]:
            body["error"] = order["error"]
        return body

    def authorization(self, number):
        order, base = self.state.orders[number], self.base()
        challenge = {"type": "http-01", "status": "pending", "url": f"{base}/challenge/{number}", "token": order["token"]}
        status = {"pending": "pending", "invalid": "invalid"}.get(order["status"], "valid")
        if order["error"]:
            challenge["error"] = order["error"]
        return {"status": status, "identifier": {"type": "dns", "value": order["host"]}, "challenges": [challenge]}

    def validate(self, order):
        """By HTTP, as a CA: at the ports that were told, under the host's name."""
        if order["status"] != "pending":
            return
        with self.state.lock:
            invalid = self.state.takes("invalid")
        enough = any if self.state.settings["any_port"] else all
        found = not invalid and enough(self.finds(port, order) for port in self.state.settings["http_ports"])
        if found:
            order["status"] = "ready"
        else:
            order["status"] = "invalid"
            order["error"] = {"type": "urn:ietf:params:acme:error:unauthorized", "detail": "no such answer"}

    def finds(self, port, order):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", f"/.well-known/acme-challenge/{order['token']}", headers={"Host": order["host"]})
            reply = connection.getresponse()
            return reply.status == 200 and reply.read().startswith(order["token"].encode() + b".")
        except OSError:
            return False


def main():
    work = pathlib.Path(sys.argv[1])
    work.mkdir(exist_ok=True)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "30", "-subj", "/CN=Scripted CA", "-keyout", work / "ca.key", "-out", work / "ca.pem"], check=True,
                   stderr=subprocess.DEVNULL)
    (work / "index.txt").touch()
    (work / "index.txt.attr").write_text("unique_subject = no\n")
    Handler.state = State(work)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"directory http://127.0.0.1:{server.server_port}/dir", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
