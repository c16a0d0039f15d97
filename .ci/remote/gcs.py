"""Google Cloud Storage by its XML interface, as much of it as writing a file needs, in memory: gcs.py; prints its address.

PUT, GET and HEAD of objects, with ranges and the condition that there is none; uploads in parts. Buckets are what comes first
in a path. What is wrong with a request is answered with 400.
"""

import hashlib
import re
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

objects, uploads, lock = {}, {}, threading.Lock()
LEAST_PART = 5 << 20


class Store(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", headers.get("length", len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def asked(self):
        """The key, the query, and the body."""
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        return unquote(parts.path), {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}, body

    def put_object(self, key, body):
        """The object's generation; None if there is one, and there must be none."""
        if self.headers.get("x-goog-if-generation-match") == "0" and key in objects:
            return None
        generation = objects[key][1] + 1 if key in objects else 1
        objects[key] = (body, generation)
        return {"etag": f'"{hashlib.md5(body).hexdigest()}"', "x_goog_generation": str(generation)}

    def do_PUT(self):
        key, query, body = self.asked()
        with lock:
            if "uploadId" in query:
                parts = uploads.get(query["uploadId"])
                if parts is None:
                    return self.answer(404)
                parts[int(query["partNumber"])] = body
                return self.answer(200, etag=f'"{hashlib.md5(body).hexdigest()}"')
            put = self.put_object(key, body)
        return self.answer(200, **put) if put else self.answer(412)

    def do_POST(self):
        key, query, body = self.asked()
        with lock:
            if "uploads" in query:
                name = str(len(uploads) + 1)
                uploads[name] = {}
                text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
                return self.answer(200, text.encode())
            parts = uploads.pop(query.get("uploadId"), None)
            named = [int(number) for number in re.findall(rb"<PartNumber>(\d+)</PartNumber>", body)]
            is_whole = parts is not None and named == sorted(parts) and named
            if not is_whole or any(len(parts[number]) < LEAST_PART for number in named[:-1]):
                return self.answer(400)
            put = self.put_object(key, b"".join(parts[number] for number in named))
        text = f"<CompleteMultipartUploadResult><ETag>{put['etag']}</ETag></CompleteMultipartUploadResult>"
        return self.answer(200, text.encode(), **put)

    def do_DELETE(self):
        _, query, _ = self.asked()
        with lock:
            return self.answer(204 if uploads.pop(query.get("uploadId"), None) is not None else 404)

    def do_GET(self):
        key, _, _ = self.asked()
        with lock:
            body, generation = objects.get(key, (None, 0))
        if body is None:
            return self.answer(404)
        about = {"etag": f'"{hashlib.md5(body).hexdigest()}"', "x_goog_generation": str(generation),
                 "last_modified": formatdate(0, usegmt=True)}
        bounds = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("range") or "")
        if bounds is None:
            return self.answer(200, body, length=len(body), **about)
        first, last = bounds.groups()
        start = int(first) if first else max(len(body) - int(last), 0)
        end = min(int(last) + 1, len(body)) if first and last else len(body)
        return self.answer(206, body[start:end], content_range=f"bytes {start}-{end - 1}/{len(body)}", **about)

    do_HEAD = do_GET


server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
