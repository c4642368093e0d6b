"""Writes `kpl.json`: JSON in an aggregate that the Kinesis Producer Library itself has made.

The library runs against a server of this program, which keeps its requests. Needs `openssl`, Java,
and the folder `lib` with software.amazon.kinesis:amazon-kinesis-producer 1.0.4 and its
dependencies. The file never changes: run this program only for a new case.
"""

from __future__ import annotations

import json
import ssl
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDS = [
    {"partitionKey": "key-0", "explicitHashKey": "", "data": '{"id":1,"customer":"Zürich"}'},
    {"partitionKey": "key-1", "explicitHashKey": "", "data": '{"id":2}\n{"id":3}\n'},
    {"partitionKey": "key-0", "explicitHashKey": "7", "data": '{"id":4}{"id":5}'},
    {"partitionKey": "key-1", "explicitHashKey": "", "data": ""},
]
SHARD = {
    "ShardId": "shardId-000000000000",
    "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": str(2**128 - 1)},
    "SequenceNumberRange": {"StartingSequenceNumber": "1"},
}
CALLER = (
    '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
    "<GetCallerIdentityResult><Account>000000000000</Account>"
    "<Arn>arn:aws:iam::000000000000:user/a</Arn><UserId>A</UserId></GetCallerIdentityResult>"
    "</GetCallerIdentityResponse>"
)
puts: list[dict[str, Any]] = []


class Service(BaseHTTPRequestHandler):
    """Answers the three calls of the library."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a call."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        target = self.headers.get("X-Amz-Target", "").split(".")[-1]
        if target == "ListShards":
            answer = json.dumps({"Shards": [SHARD]})
        elif target == "PutRecords":
            records = json.loads(body)["Records"]
            puts.extend(records)
            placed = {"SequenceNumber": "2", "ShardId": SHARD["ShardId"]}
            answer = json.dumps({"FailedRecordCount": 0, "Records": [placed] * len(records)})
        else:
            answer = CALLER
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1" if target else "text/xml")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())


def main() -> None:
    """Write the file."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
        new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
        subprocess.run([*new, "-keyout", key, "-out", certificate], check=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    texts = [text for record in RECORDS for text in record.values()]
    command = ["java", "-cp", "lib/*", str(HERE / "KplRecords.java"), str(server.server_port)]
    subprocess.run([*command, *texts], check=True)
    (made,) = [it for it in puts if it["PartitionKey"] != "first"]
    found = {
        "maker": "software.amazon.kinesis:amazon-kinesis-producer 1.0.4, run by make_kpl.py",
        "records": RECORDS,
        "aggregate": {"partitionKey": made["PartitionKey"], "data": made["Data"]},
    }
    text = json.dumps(found, indent=2, ensure_ascii=False)
    (HERE / "kpl.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
