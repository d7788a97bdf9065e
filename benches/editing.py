"""Times of the language server: a generated program of so many lines is opened, edited and asked about.

    python3 benches/editing.py FELIS [LINES …]

For each length, a table with the median and the maximum of each request in milliseconds, and the
median relative to that of the shortest program. Every request follows an edit, so that none is
answered from what an earlier one has computed of the same text. The edits go to the middle of
the text: a digit within a function, a word within a function, a new statement, and a word at the end.
A time ends when the answer has been read from the pipe, before this client decodes it.
"""

import json
import statistics
import subprocess
import sys
import time

# Statements of twelve lines that use those of the group before.
GROUP = """/// Adds the rows of a matrix, times {i}.
fun total{i}[N:COMPACTLINEAR, M:COMPACTLINEAR](x:int ^ (N \\* M), k:int):int ^ N =>
  [ k * sum row + {i} for row in rows x ];
struct Point{i} {{ across:real; upward:real; }}
fun step{i}(a:real, b:real):real => a * b + {before} (a, {i}.5);
fun length{i}(p:Point{i}):real {{
  val squares = p.across * p.across + p.upward * p.upward;
  return sqrt squares + step{i} (p.across, {i}.0);
}}
fun choice{i}(v:1 + real):real =>
  match v with | case 0 () => step{i} (1.0, 2.0) | case 1 x => x endmatch;
val value{i} = length{i} (Point{i} (3.0, {i}.0)) + choice{i} ((case 1 of 1 + real) {i}.25);
"""


def program(lines):
    """Returns a program of about so many lines."""
    groups = max(2, lines // 12)
    before = lambda i: f"step{i - 1}" if i else "max"
    return "".join(GROUP.format(i=i, before=before(i)) for i in range(groups))


class Client:
    """The client's side of the protocol, over the pipes of a process."""

    def __init__(self, felis):
        self.server = subprocess.Popen([felis, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.version = 1
        # When the last message had been read.
        self.arrived = 0.0
        self.request("initialize", {"capabilities": {}})
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline().strip()) != b"":
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self.server.stdout.read(length)
        self.arrived = time.perf_counter()
        return json.loads(body)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        """Sends a request; returns its result."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (answer := self.receive()).get("id") != self.number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def close(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.server.wait()


class Text:
    """A text that is open in the server."""

    URI = "untitled:generated.flx"

    def __init__(self, client, text):
        self.client, self.text = client, text
        document = {"uri": self.URI, "languageId": "felis", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})

    def position(self, at):
        before = self.text[:at]
        return {"line": before.count("\n"), "character": at - (before.rfind("\n") + 1)}

    def edit(self, at, length, new):
        """Replaces a part of the text."""
        change = {"range": {"start": self.position(at), "end": self.position(at + length)}, "text": new}
        self.text = self.text[:at] + new + self.text[at + length :]
        self.client.version += 1
        document = {"uri": self.URI, "version": self.client.version}
        self.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )

    def ask(self, method, at=None, **more):
        params = {"textDocument": {"uri": self.URI}, **more}
        if at is not None:
            params["position"] = self.position(at)
        return self.client.request(f"textDocument/{method}", params)


def measure(felis, lines, rounds=7):
    """Returns the milliseconds of each kind of request, several of each."""
    client = Client(felis)
    text = Text(client, program(lines))
    middle = max(1, lines // 24)
    times = {}

    def timed(name, method, at=None, check=None, **more):
        begun = time.perf_counter()
        result = text.ask(method, at, **more)
        times.setdefault(name, []).append((client.arrived - begun) * 1e3)
        assert check is None or check in json.dumps(result), f"{name}: {result}"

    timed("first: hover after opening", "hover", text.text.index(f"squares = p.across"), "real")
    for round in range(rounds):
        body = text.text.index(f"fun length{middle}(")
        digit = text.text.index(f"{middle}.0)", body)
        text.edit(digit, len(f"{middle}"), f"{middle}")
        timed("hover, a digit in a function", "hover", text.text.index("squares", body), "real")
        text.edit(digit, 0, " ")
        timed("tokens, a blank in a function", "semanticTokens/full")
        text.edit(digit, 1, "")
        timed("hints, a blank in a function", "inlayHint", None, "real",
              range={"start": text.position(body), "end": text.position(body + 200)})
        inner = text.text.index("return", body)
        text.edit(inner, 0, "squ")
        timed("completion of a name", "completion", inner + 3, "squares")
        text.edit(inner, 3, "p.")
        timed("completion after a dot", "completion", inner + 2, "upward")
        text.edit(inner, 2, f"step{middle} (")
        timed("signature help", "signatureHelp", inner + len(f"step{middle} ("), f"step{middle}")
        text.edit(inner, len(f"step{middle} ("), "")
        group = text.text.index(f"/// Adds the rows of a matrix, times {middle}.")
        text.edit(group, 0, "val newest = 1.5;\n")
        timed("hover, a new statement", "hover", group + 5, "real")
        timed("definition, nothing changed", "definition", text.text.index(f"step{middle} (p"), "line")
        timed("references, nothing changed", "references", text.text.index(f"step{middle} (p"), "line",
              context={"includeDeclaration": True})
        text.edit(group, len("val newest = 1.5;\n"), "")
        end = len(text.text)
        text.edit(end, 0, "val last = valu")
        timed("completion at the end", "completion", len(text.text), "value0")
        text.edit(end, len("val last = valu"), "")
        timed("symbols", "documentSymbol", None, "value0")
        timed("actions", "codeAction", range={"start": text.position(0), "end": text.position(50)},
              context={"diagnostics": []})
    client.close()
    return times


def main():
    felis, *lengths = sys.argv[1:] or ["target/release/felis"]
    lengths = [int(length) for length in lengths] or [300, 3000]
    first = {}
    for lines in lengths:
        print(f"{lines} lines")
        print(f"  {'request':32}{'median':>10}{'maximum':>10}{'ratio':>8}")
        for name, spent in measure(felis, lines).items():
            middle = statistics.median(spent)
            ratio = middle / first.setdefault(name, middle)
            print(f"  {name:32}{middle:8.1f} ms{max(spent):7.1f} ms{ratio:8.1f}")


if __name__ == "__main__":
    main()
