"""Waits for the emulators of Azure and GCS, and makes a container and a bucket called `marquetry` in them:
create.py AZURE_URL GCS_URL"""

import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.request
from email.utils import formatdate

azure, gcs = sys.argv[1:]
# What every emulator of Azure has, and nothing else.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def asked(request):
    """Sends a request until somebody answers: servers take a while to start."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        try:
            return urllib.request.urlopen(request, timeout=10).status
        except urllib.error.HTTPError as error:
            sys.exit(f"{request.full_url}: {error.code} {error.read().decode()}")
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{request.full_url}: no answer")


date = formatdate(usegmt=True)
headers = {"x-ms-date": date, "x-ms-version": "2021-12-02"}
named = "".join(f"{name}:{value}\n" for name, value in headers.items())
# The method, eleven headers that are not there, ours, and what is asked for; the emulator has the account in the path, too.
text = "PUT" + "\n" * 12 + named + f"/{ACCOUNT}/{ACCOUNT}/marquetry\nrestype:container"
signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
headers |= {"Authorization": f"SharedKey {ACCOUNT}:{signature}", "Content-Length": "0"}
asked(urllib.request.Request(f"{azure}/{ACCOUNT}/marquetry?restype=container", None, headers, method="PUT"))
body = json.dumps({"name": "marquetry"}).encode()
asked(urllib.request.Request(f"{gcs}/storage/v1/b?project=test", body, {"Content-Type": "application/json"}))
