#!/usr/bin/env python3
"""`changes.py KUBECONFIG`: a client of the resource API, on one connection. A line `put FILE` or `delete NAME` of the standard
input makes that request of a ProxyVIP in the namespace `default`, and is answered by the time at which it was sent (that of
CLOCK_MONOTONIC, in seconds) and the status."""
import base64
import http.client
import re
import ssl
import sys
import tempfile
import time
from pathlib import Path

COLLECTION = "/apis/edgeproxy.io/v1alpha1/namespaces/default/proxyvips/"


def connect(kubeconfig):
    text = Path(kubeconfig).read_text()
    server = re.search(r"server: https://([^:]+):(\d+)", text)
    context = ssl.create_default_context()
    with tempfile.TemporaryDirectory() as folder:
        parts = {}
        for name in ("certificate-authority", "client-certificate", "client-key"):
            parts[name] = Path(folder) / name
            parts[name].write_bytes(base64.b64decode(re.search(name + r"-data: (\S+)", text).group(1)))
        context.load_verify_locations(parts["certificate-authority"])
        context.load_cert_chain(parts["client-certificate"], parts["client-key"])
    return http.client.HTTPSConnection(server.group(1), int(server.group(2)), context=context)


def main():
    connection = connect(sys.argv[1])
    for line in sys.stdin:
        verb, what = line.split()
        method, name, body, headers = "DELETE", what, None, {}
        if verb == "put":
            method, name, body = "PATCH", Path(what).stem, Path(what).read_bytes()
            headers = {"Content-Type": "application/apply-patch+yaml"}
        path = COLLECTION + name + ("?fieldManager=bench" if body else "")
        sent = time.monotonic()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        print(sent, answer.status, flush=True)


main()
