"""An S3-compatible server with one bucket, on a port that is free; prints its address, and logs a line for each request:
method, path, status, bytes of the answer."""

import os
import sys

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import Client

backend = DomainDispatcherApplication(create_backend_app)


def logged(environ, start_response):
    """The backend; its answers are logged before they are given."""

    def start(status, headers, *rest):
        length = dict((name.lower(), value) for name, value in headers).get("content-length", "0")
        line = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {status.split()[0]} {length}"
        # In one write: `print` writes the line's end by itself, and another thread's line could come between.
        os.write(sys.stderr.fileno(), f"{line}\n".encode())
        return start_response(status, headers, *rest)

    return backend(environ, start)


class Silent(WSGIRequestHandler):
    """Logs nothing by itself, and keeps connections open, as stores do."""

    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


who = {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"}
created = Client(backend).put("/marquetry", headers=who)
assert created.status_code == 200, created.data
server = make_server("127.0.0.1", 0, logged, threaded=True, request_handler=Silent)
print(f"http://127.0.0.1:{server.port}", flush=True)
server.serve_forever()
