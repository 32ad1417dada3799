"""`transformer-course serve`: batches of what arrives together, limits, errors as JSON, a gentle stop."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
from command_line import Run, assert_one_sentence
from small_runs import trained, trained_run

from transformer_course.lines import Answer
from transformer_course.serve import Limits, application, is_loopback, serve
from transformer_course.serve.batching import Batcher, BusyError
from transformer_course.serve.server import _socket

for package in ("starlette", "uvicorn", "httpx"):  # in CI tests/conftest.py makes a failure of it
    pytest.importorskip(package)
TestClient = pytest.importorskip("starlette.testclient").TestClient

LIMITS = Limits(body=5000, sentences=4, characters=300, beam=5, waiting=6)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(application(trained(), limits=LIMITS), "http://localhost:8000") as client:
        yield client


def ask(client: TestClient, **asked: object) -> tuple[int, dict[str, Any]]:
    response = client.post("/translate", json=asked)
    assert response.headers["content-type"] == "application/json"
    return response.status_code, response.json()


# The endpoint


def test_texts_are_translated_as_by_the_translator(client: TestClient) -> None:
    texts = ["one two", "", "five zebra"]
    status, answer = ask(client, text=texts)
    assert status == 200
    found = answer["translations"]
    expected = trained().translate([texts[0], texts[2]])
    assert [record["text"] for record in found] == [expected[0], "", expected[1]]
    assert found[2]["unseen"] == ["zebra"]
    assert found[0] == {
        "text": expected[0], "unseen": [], "doubtful": False, "untranslated": [], "cut": False,
    }  # fmt: skip
    assert ask(client, text="one two", beam=1)[1]["translations"][0]["text"] == trained().translate(
        "one two", beam=1
    )
    assert ask(client, text=[]) == (200, {"translations": []})


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({}, 400, "must be an object with text"),
        ({"text": "one", "n": 3}, 400, "must be an object with text"),
        ([], 400, "must be an object with text"),
        ({"text": 3}, 400, "text must be a string, or a list of strings"),
        ({"text": ["one", None]}, 400, "text must be a string, or a list of strings"),
        ({"text": "one", "beam": 0}, 400, "beam (0) must be a whole number from 1 to 5"),
        ({"text": "one", "beam": 6}, 400, "beam (6) must be"),
        ({"text": "one", "beam": True}, 400, "beam (True) must be"),
        ({"text": "one", "beam": 1.0}, 400, "beam (1.0) must be"),
        ({"text": "a\x00"}, 400, "sentence 1: control character (U+0000, character 2)"),
        ({"text": ["one", "\ud800"]}, 400, "sentence 2: half a surrogate pair"),
        ({"text": ["one"] * 5}, 413, "text must be at most 4 strings"),
        ({"text": ["one", "a" * 301]}, 413, "sentence 2 must have at most 300 characters"),
        ({"text": "two " * 70}, 413, "sentence 1 has 70 subwords, the model takes at most 63"),
        ({"text": "a" * 5000}, 413, "the request must have at most 5,000 bytes"),
    ],
)
def test_what_cannot_be_answered_is_told_as_json(
    client: TestClient, asked: object, status: int, told: str
) -> None:
    response = client.post(
        "/translate", content=json.dumps(asked), headers={"content-type": "application/json"}
    )
    assert response.status_code == status
    assert told in response.json()["error"]
    assert ask(client, text="one")[0] == 200


def test_what_could_wait_for_ever_is_too_long() -> None:
    limits = Limits(sentences=4, waiting=2)
    with TestClient(application(trained(), limits=limits), "http://localhost:8000") as client:
        assert ask(client, text=["one"] * 3) == (413, {"error": "text must be at most 2 strings"})
        assert ask(client, text=["one"] * 2)[0] == 200


def test_a_higher_limit_of_characters_holds() -> None:
    limits = Limits(characters=3000)
    with TestClient(application(trained(), limits=limits), "http://localhost:8000") as client:
        status, answer = ask(client, text="one" + " " * 2500 + "two")
    assert (status, answer["translations"][0]["text"]) == (200, trained().translate("one two"))


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 4000, b"NaN"])
def test_what_is_no_json_is_told(client: TestClient, body: bytes) -> None:
    response = client.post("/translate", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert set(response.json()) == {"error"}


def test_other_requests_get_json_too(client: TestClient) -> None:
    for method, path, status in (
        ("GET", "/translate", 405),
        ("GET", "/no", 404),
        ("POST", "/", 405),
    ):
        response = client.request(method, path)
        assert response.status_code == status
        assert set(response.json()) == {"error"}
        assert ("POST" in response.headers.get("allow", "")) == (path == "/translate")
        assert ("GET" in response.headers.get("allow", "")) == (path == "/")
    response = client.post("/translate", content="text=one")
    assert (response.status_code, response.json()) == (
        415,
        {"error": "the request must be application/json"},
    )
    assert client.get("/health").json() == {"status": "ok", "waiting": 0}


def test_a_mistake_of_the_server_is_told_without_its_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("transformer_course.serve.web.translate_lines", fail)
    app = application(trained())
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        for _ in range(2):  # and it goes on
            response = client.post("/translate", json={"text": "one"})
            assert (response.status_code, response.json()) == (
                500,
                {"error": "the server made a mistake"},
            )


def test_a_foreign_name_is_refused() -> None:
    """A page of another site can give its own name this computer's address."""
    with TestClient(application(trained()), "http://evil.example") as client:
        for response in (client.get("/"), client.post("/translate", json={"text": "one"})):
            assert response.status_code == 400
            assert response.json() == {"error": "the server isn't known by this name"}
    with TestClient(application(trained())) as client:
        for host in (
            "a{b.evil.example:8000",
            "",
            "evil.example:99999999",
            "[",
            "127.0.0.1.evil.example",
        ):
            assert client.get("/health", headers={"host": host}).status_code == 400, host
    with TestClient(application(trained(), None), "http://evil.example") as client:
        assert client.get("/health").status_code == 200
    with TestClient(application(trained()), "http://[::1]:8000") as client:
        assert client.get("/health").status_code == 200


# The page


class Addresses(HTMLParser):
    """What a page loads, and scripts and styles that stand in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.found += [value for name in ("src", "href") if (value := values.get(name))]
        self.inline += tag == "style" or (tag == "script" and "src" not in values)
        self.inline += any(name == "style" or name.startswith("on") for name in values)


def test_the_page_asks_no_other_host_and_runs_no_text(client: TestClient) -> None:
    response = client.get("/")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    page = Addresses(response.text)
    assert sorted(page.found) == ["page.css", "page.js"]
    assert page.inline == 0
    for name in page.found:
        found = client.get(f"/{name}")
        assert found.status_code == 200
        assert "//" not in re.sub(r"^// .*$", "", found.text, flags=re.M)
        assert found.headers["x-content-type-options"] == "nosniff"
    script = files("transformer_course.serve").joinpath("page.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)


# Batches


class Machine:
    """Translates when it is let, and remembers with whom."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.seen: list[tuple[list[str], int]] = []

    def __call__(self, sentences: list[str], beam: int) -> Sequence[Answer]:
        self.seen.append((sentences, beam))
        self.begun.release()
        assert self.go.acquire(timeout=10)
        if "fail" in sentences:
            raise RuntimeError("it failed")
        return [Answer(sentence.upper()) for sentence in sentences]


Wish = tuple[list[str], int]


def together(first: Wish, others: list[Wish], leave: int | None = None, **limits: int) -> Any:
    """Ask for `first`, and while it is in work for the others; what each got, and the batches."""
    machine = Machine()

    async def talk() -> list[Any]:
        batcher = Batcher(machine, **limits)
        worker = asyncio.create_task(batcher.run())
        tasks = [asyncio.create_task(batcher.translate(*first))]
        await asyncio.to_thread(machine.begun.acquire, timeout=10)
        tasks += [asyncio.create_task(batcher.translate(*wish)) for wish in others]
        await asyncio.sleep(0)  # all have come
        if leave is not None:
            tasks[leave].cancel()
            await asyncio.sleep(0)
        for _ in range(len(tasks)):
            machine.go.release()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert batcher.open == 0
        assert [*batcher.sizes] == [len(sentences) for sentences, _ in machine.seen][-100:]
        worker.cancel()
        return [
            [answer.text for answer in got] if isinstance(got, list) else type(got) for got in found
        ]

    with ThreadPoolExecutor(1) as thread:  # playwright's loop runs in the thread of the tests
        return thread.submit(asyncio.run, talk()).result(), machine.seen


def test_what_arrives_while_a_batch_is_in_work_is_the_next_batch() -> None:
    got, seen = together((["a"], 4), [(["b", "c"], 4), (["d"], 4), (["e"], 4)])
    assert got == [["A"], ["B", "C"], ["D"], ["E"]]
    assert seen == [(["a"], 4), (["b", "c", "d", "e"], 4)]


def test_a_server_that_runs_for_long_remembers_no_more() -> None:
    got, seen = together((["a"], 4), [([f"b{number}"], number % 2) for number in range(150)])
    assert len(got) == len(seen) == 151


def test_a_batch_has_one_beam_and_no_more_than_its_size() -> None:
    others = [(["b"], 1), (["c"], 4), (["d"], 4), (["e", "f"], 4), (list("ghij"), 4)]
    got, seen = together((["a"], 4), others, batch=3)
    assert got == [["A"], ["B"], ["C"], ["D"], ["E", "F"], ["G", "H", "I", "J"]]
    batches = [["a"], ["b"], ["c", "d"], ["e", "f"], ["g", "h", "i", "j"]]
    assert seen == [(batch, 1 if batch == ["b"] else 4) for batch in batches]


def test_too_many_are_refused_and_those_before_are_answered() -> None:
    others = [(["b", "c"], 4), (["d"], 4), (["e"], 4)]
    got, _ = together((["a"], 4), others, waiting=4)
    assert got == [["A"], ["B", "C"], ["D"], BusyError]


def test_a_failure_is_told_to_its_callers_only() -> None:
    got, _ = together((["fail"], 4), [(["b"], 4)])
    assert got == [RuntimeError, ["B"]]


def test_nobody_translates_for_a_caller_who_has_gone() -> None:
    got, seen = together((["a"], 4), [(["b"], 4), (["c"], 4)], leave=1)
    assert got == [["A"], asyncio.CancelledError, ["C"]]
    assert seen == [(["a"], 4), (["c"], 4)]


def test_while_too_many_wait_the_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    monkeypatch.setattr(
        "transformer_course.serve.web.translate_lines",
        lambda translator, lines, beam, at_once: machine(list(lines), beam),
    )
    app = application(trained(), limits=LIMITS)
    with TestClient(app, "http://localhost") as client, ThreadPoolExecutor(2) as threads:
        waiting = [
            threads.submit(client.post, "/translate", json={"text": text})
            for text in (["one"] * 4, ["two"] * 2)
        ]
        while client.get("/health").json()["waiting"] < 6:
            pass
        response = client.post("/translate", json={"text": "three"})
        assert response.status_code == 503
        assert response.headers["retry-after"] == "1"
        assert response.json() == {"error": "6 sentences are waiting, at most 6 may"}
        for _ in waiting:
            machine.go.release()
        assert [len(done.result().json()["translations"]) for done in waiting] == [4, 2]


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch, machine: Machine) -> Iterator[tuple[str, int]]:
    """A server of its own thread, in which `machine` translates; its address."""
    import uvicorn

    monkeypatch.setattr(
        "transformer_course.serve.web.translate_lines",
        lambda translator, lines, beam, at_once: machine(list(lines), beam),
    )
    with _socket("127.0.0.1", 0) as place, ThreadPoolExecutor(1) as thread:
        config = uvicorn.Config(application(trained()), log_level="warning", log_config=None)
        server = uvicorn.Server(config)
        ended = thread.submit(server.run, [place])
        try:
            yield place.getsockname()[:2]
        finally:
            server.should_exit = True
            ended.result(timeout=10)


def wish(text: str, missing: int = 0) -> bytes:
    """A request as it goes over the wire, without so many of its last bytes."""
    body = json.dumps({"text": text}).encode()
    head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    return whole[: len(whole) - missing]


def wait_until_open(address: tuple[str, int], sentences: int) -> None:
    """Wait until a server says that so many sentences are waiting or in work."""
    found, end = -1, time.monotonic() + 10
    while found != sentences:
        assert time.monotonic() < end, f"{found} are open"
        with urllib.request.urlopen(f"http://localhost:{address[1]}/health") as health:
            found = json.load(health)["waiting"]


def test_a_caller_who_closes_the_connection_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    with listening(monkeypatch, machine) as address:
        callers = []
        for number, text in enumerate(["one", "two", "three"], 1):
            callers.append(socket.create_connection(address, timeout=10))
            callers[-1].sendall(wish(text))
            wait_until_open(address, number)
        callers[1].close()
        wait_until_open(address, 2)
        machine.go.release()
        machine.go.release()
        for caller, answer in ((callers[0], b'"ONE"'), (callers[2], b'"THREE"')):
            with caller, caller.makefile("rb") as stream:
                assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
                while answer not in stream.readline():
                    pass
    assert [sentences for sentences, _ in machine.seen] == [["one"], ["three"]]


def test_a_caller_who_leaves_while_sending_is_no_mistake(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine = Machine()
    with listening(monkeypatch, machine) as address:
        with socket.create_connection(address, timeout=10) as caller:
            caller.sendall(wish("one", missing=3))
            time.sleep(0.2)  # the server reads it
        wait_until_open(address, 0)
    assert machine.seen == []
    assert caplog.text == ""


# The command


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM for others")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_stop_answers_what_is_in_work(number: int, status: int) -> None:
    command = [
        sys.executable,
        "-m",
        "transformer_course",
        "serve",
        str(trained_run()),
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        assert server.stderr
        address = server.stdout.readline().split()[0]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address) as page:
            assert b"<textarea" in page.read()
        body = json.dumps({"text": ["five four three two one " * 9] * 30, "beam": 8}).encode()
        request = urllib.request.Request(
            f"{address}translate", body, {"Content-Type": "application/json"}
        )
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(lambda: json.load(urllib.request.urlopen(request)))
            while json.load(urllib.request.urlopen(f"{address}health"))["waiting"] == 0:
                assert not answer.done()
            server.send_signal(number)
            assert len(answer.result(timeout=60)["translations"]) == 30
        assert server.wait(timeout=60) == status
        errors = server.stderr.read()
        assert "Traceback" not in errors
        assert errors.strip() == ("stopped" if status else "")


def test_a_port_that_is_taken_is_one_sentence(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = f"port ({port}) of 127.0.0.1 can't be listened at: Address already in use"
        assert_one_sentence(run("serve", trained_run(), "--port", port), told)
    assert_one_sentence(run("serve", trained_run(), "--port", 70_000), "must be from 0 to 65535")
    assert_one_sentence(run("serve", "nothing"), "there is no folder nothing")
    with pytest.raises(ValueError, match=r"host \(''\) must be an address"):
        serve(trained(), host="")


def test_no_answer_waits_for_the_confirmation_of_its_first_packet() -> None:
    """With Nagle's algorithm a caller who keeps its connection waits 40 ms for each answer."""
    with _socket("127.0.0.1", 0) as listening:
        with socket.create_connection(listening.getsockname()):
            connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_server_for_others_is_warned_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("transformer_course.cli.serve", lambda *given, **_: asked.extend(given[1:]))
    result = run("serve", trained_run(), "--host", "0.0.0.0", "--port", 0)
    assert "whoever reaches 0.0.0.0 can use it; there is no password" in result.err
    assert run("serve", trained_run()).err == ""
    assert asked == ["0.0.0.0", 0, "127.0.0.1", 8000]
    assert not is_loopback("example.org")


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_missing_library_of_the_server_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    told = f'{package} is missing: run pip install ".[serve]" in the folder of the course'
    assert_one_sentence(run("serve", trained_run(), "--port", 0), told)


def test_the_server_can_be_started_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's handler of SIGTERM is put back."""
    import uvicorn

    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: None)
    before, said = signal.getsignal(signal.SIGTERM), []
    serve(trained(), port=0, ready=said.append)
    assert signal.getsignal(signal.SIGTERM) is before
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", said[0])
