# SPDX-License-Identifier: MIT
"""
What a history may show under a policy, written from the promises (docs/design.md), not from the engine:

3. a request that may have been executed is repeated only if the policy calls it safe;
4. bodies are whole, and the program's stream is afterwards where it would be without us;
1. the program sees one response, that of the attempt whose result it gets.

What libcurl sends by itself (redirects, rounds of authentication, a resend when a reused connection turns out dead) is
told from what we send by what the server answered before. The bare run shows whether that is understood: all of it must
be libcurl's.
"""

import dataclasses

from policies import POLICIES

SAFE_METHODS = {"GET", "HEAD", "OPTIONS", "TRACE", "RETR"}
UPLOADS_BY_FTP = {"STOR", "APPE"}
CONNECT = -1
# A server that answers or resets before it has read the body: what the client sees is a matter of luck.
LUCK = set("eyw")
PLACE_PROGRESS = 3
MAX_ATTEMPTS = 4
REWIND_FAILED = 65
# Shorter ones don't tell where in the stream they begin.
TELLING_BYTES = 16


@dataclasses.dataclass(slots=True)
class Send:
    index: int
    operation: int
    method: str
    target: str
    location: str
    step: str
    status: int
    connection: int
    number: int
    opened: int
    complete: bool
    announced: bool
    empty: bool
    start: int
    bytes: int
    body: str
    head: str
    key: bool
    conditional: bool
    overridden: bool
    authorised: bool

    @property
    def has_effects(self):
        return self.method not in SAFE_METHODS or self.announced or self.overridden

    @property
    def is_http(self):
        return not self.target.startswith("ftp/")


@dataclasses.dataclass(slots=True)
class Operation:
    index: int
    result: int
    status: int
    body: list
    headers: list
    from_file: bool
    moved: int
    size: int
    trick: int
    trick_place: int
    sends: list = dataclasses.field(default_factory=list)
    # Of sends, those before which a CONNECT failed; and whether one failed after the last.
    after_refusal: set = dataclasses.field(default_factory=set)
    ends_refused: bool = False


@dataclasses.dataclass
class History:
    seed: int
    policy: int
    text: str
    operations: list = dataclasses.field(default_factory=list)
    sends: list = dataclasses.field(default_factory=list)
    complete: bool = False
    quiet: bool = False


def _operation(index, fields):
    trick = int(fields["trick"])
    return Operation(
        index, int(fields["result"]), int(fields["status"]), _tokens(fields["body"]), _tokens(fields["headers"]),
        fields["file"] == "1", int(fields["moved"]), int(fields["size"]), trick % 100, trick // 100,
    )


def _tokens(text):
    """The numbers in brackets."""
    return [int(part.split("]")[0]) for part in text.split("[")[1:] if part.split("]")[0].isdigit()]


def _send(index, fields):
    flags = {name: fields[name] == "1" for name in ("complete", "announced", "empty", "key", "conditional", "overridden", "authorised")}
    return Send(
        index, int(fields["op"]), fields["method"], fields["target"], fields["location"], fields["step"],
        int(fields["status"]), int(fields["connection"]), int(fields["number"]), int(fields["opened"]), flags["complete"], flags["announced"],
        flags["empty"], int(fields["start"]), int(fields["bytes"]), fields["body"], fields["head"], flags["key"], flags["conditional"],
        flags["overridden"], flags["authorised"],
    )


def _deal_out(history):
    """Gives the sends to their operations. A CONNECT that failed counts for the send after it in the same operation."""
    refused = False
    last = None
    for send in history.sends:
        if send.operation == CONNECT:
            refused = refused or send.status != 200
            if refused and last is not None:
                last.ends_refused = True
            continue
        if send.operation >= len(history.operations):
            continue
        operation = history.operations[send.operation]
        if refused and operation is last:
            operation.after_refusal.add(send.index)
        operation.sends.append(send)
        operation.ends_refused = False
        last, refused = operation, False


def parse(text):
    """The histories in what the client printed."""
    histories, lines = [], []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        lines.append(line)
        if word == "run":
            lines = [line]
            seed, _, policy = rest.partition(" policy=")
            histories.append(History(int(seed), int(policy), ""))
        elif word in ("op", "send"):
            index, *fields = rest.split()
            fields = dict(field.split("=", 1) for field in fields)
            if word == "op":
                histories[-1].operations.append(_operation(int(index), fields))
            else:
                histories[-1].sends.append(_send(int(index), fields))
        elif word == "end":
            histories[-1].complete = True
            histories[-1].text = "\n".join(lines)
            _deal_out(histories[-1])
        elif word.startswith("quiet="):
            histories[-1].quiet = word == "quiet=1"
    if histories and not histories[-1].complete:
        histories[-1].text = "\n".join(lines)
    return histories


def is_libcurls(operation, previous, send):
    """Whether libcurl makes this request by itself, after the one before it in the same operation."""
    # A repeat of ours begins where the operation began, not where a redirect led.
    if send.target == previous.target != operation.sends[0].target:
        return True
    if send.index in operation.after_refusal:
        return False
    if previous.status // 100 == 3:
        where = previous.location.rsplit("/o", 1)[-1]
        return send.target.rsplit("/o", 1)[-1].removeprefix("o") == where
    if previous.status in (401, 417):
        return True
    # Before it knows what credentials are wanted libcurl asks without a body; it repeats if none are.
    is_same = (previous.target, previous.method) == (send.target, send.method) or operation.trick
    if is_same and previous.empty and 200 <= previous.status < 300:
        return True
    was_reused = previous.number > 1 or previous.opened < operation.index
    return previous.status == 0 and previous.is_http and was_reused and send.connection != previous.connection


def attempts_of(operation):
    """The operation's sends, as lists: one for each perform, as far as the server can tell."""
    attempts = []
    for previous, send in zip([None, *operation.sends], operation.sends):
        if previous and is_libcurls(operation, previous, send):
            attempts[-1].append(send)
        else:
            attempts.append([send])
    return attempts


def is_idempotent(send):
    if not send.has_effects or send.key:
        return True
    return send.method in ("PUT", "DELETE") and not send.conditional and not send.overridden


def may_repeat(policy, sent):
    """Whether the policy lets a request be made again of which `sent` is what went out so far."""
    effects = [send for send in sent if send.has_effects]
    if policy.replay == "none" or any(send.method in UPLOADS_BY_FTP for send in effects):
        return False
    if policy.replay == "all" or all(send.status in policy.refused for send in effects):
        return True
    return policy.replay == "idempotent" and is_idempotent(sent[0])


def _judge_repeats(policy, operation):
    attempts = attempts_of(operation)
    limit = policy.keys.get("max_attempts", MAX_ATTEMPTS)
    if len(attempts) > limit:
        yield f"{len(attempts)} attempts, {limit} are allowed"
    sent = []
    for attempt in attempts:
        if sent and not may_repeat(policy, sent):
            yield f"send {attempt[0].index} repeats what may have been executed"
        sent += attempt


def _judge_likeness(operation):
    """A repeat is the same request, with the same bytes in its body."""
    first, *repeats = [attempt[0] for attempt in attempts_of(operation)]
    # Credentials change what is sent: nothing of the body before it is known which are wanted.
    asked = any(send.status == 401 or send.empty for send in operation.sends)
    for repeat in repeats:
        if repeat.target != first.target or repeat.method != first.method:
            yield f"send {repeat.index} isn't the request that send {first.index} was"
        elif repeat.head != first.head and not asked:
            yield f"send {repeat.index} has another head than send {first.index}"
        elif repeat.complete and first.complete and repeat.body != first.body and not asked:
            yield f"send {repeat.index} has another body than send {first.index}"
        elif min(repeat.bytes, first.bytes) >= TELLING_BYTES and repeat.start != first.start:
            yield f"send {repeat.index} has a body from elsewhere than send {first.index}"


def _judge_response(history, operation):
    if not operation.sends:
        return
    last = operation.sends[-1]
    # Those after which libcurl goes on by itself, be it to a place where nothing can be sent.
    steps = {send.index: send for attempt in attempts_of(operation) for send in attempt[:-1]}
    steps |= {send.index: send for send in operation.sends[:-1] if send.status // 100 == 3}
    redirects = [steps[index] for index in operation.headers if index in steps and steps[index].status // 100 == 3]
    # Within an attempt libcurl may be led to one place twice.
    number_of = {send.index: number for number, attempt in enumerate(attempts_of(operation)) for send in attempt}
    pairs = [(one, another) for one, another in zip(redirects, redirects[1:])
             if one is another or number_of[one.index] != number_of[another.index]]
    finals = [index for index in operation.headers if index not in steps]
    if any(index != last.index for index in finals) or len(finals) > 1:
        yield f"the program saw the headers of sends {finals}, and the last one is {last.index}"
    for one, another in pairs:
        if (one.target, one.status, one.location) == (another.target, another.status, another.location):
            yield f"the program saw a redirect twice: sends {one.index} and {another.index}"
    # With CURLOPT_HEADER the body has the headers of steps, too.
    bodies = [index for index in operation.body if index not in steps]
    if last.is_http and any(index != last.index for index in bodies):
        yield f"the program saw the body of sends {operation.body}, and the last one is {last.index}"
    # Before 8.x the code of an FTP connection that is closed meanwhile stays.
    has_answer = operation.result in (0, 22) and operation.status != 221 and last.status and not last.location.startswith("ftp")
    if last.is_http and has_answer and not operation.ends_refused and operation.status != last.status:
        yield f"status {operation.status}, and the last answer was {last.status}"


def _likeness(operation):
    """What the server saw of an operation, and its numbers of sends relative to the first."""
    return [(s.method, s.target, s.status, s.step, s.complete, s.announced, s.body, s.head, s.connection == operation.sends[0].connection)
            for s in operation.sends]


def _path(attempt):
    return [(s.method, s.target, s.step, s.announced, s.start, s.bytes, s.number > 1) for s in attempt]


def _seen(operation):
    base = operation.sends[0].index if operation.sends else 0
    shown = [index - base for index in operation.body]
    # A proxy's answers come between, whose numbers are sends too.
    return operation.result, operation.status, len(shown), len(operation.headers)


def _depends_on_luck(operation):
    if operation.trick and operation.trick_place == PLACE_PROGRESS:
        return True
    # A stream that is longer than announced, or not at all: before 8.7 libcurl sends it for as long as it is let.
    if any(s.start >= 0 and s.bytes < operation.size or operation.moved and not s.announced for s in operation.sends):
        return True
    return any(s.step in LUCK or not s.complete for s in operation.sends)


def _needs_rewind(attempt):
    return any(send.status // 100 == 3 or send.status in (401, 417) or not send.status or send.empty for send in attempt)


def _judge_against_bare(bare, ours):
    was_repeated_in_vain = ours.sends and not _needs_rewind(attempts_of(ours)[-1])
    if ours.result == REWIND_FAILED and bare.result != REWIND_FAILED and was_repeated_in_vain:
        yield f"libcurl couldn't rewind; without us {bare.result}"
    if _depends_on_luck(bare) or _depends_on_luck(ours):
        return
    if _likeness(bare) == _likeness(ours):
        if bare.sends and _seen(bare) != _seen(ours):
            yield f"the same requests came to {_seen(ours)}, without us to {_seen(bare)}"
        # libcurl rewinds a file to its very beginning, and then may read on beyond what it sends.
        was_rewound = bare.from_file and len(bare.sends) > 1
        if bare.sends and not was_rewound and bare.moved != ours.moved:
            yield f"the stream moved by {ours.moved}, without us by {bare.moved}"
    elif not ours.from_file and bare.sends and ours.sends and not ours.ends_refused:
        # The last attempt met what the only one met without us.
        same_end = _path(attempts_of(ours)[-1]) == _path(attempts_of(bare)[-1])
        if same_end and bare.moved != ours.moved:
            yield f"the stream moved by {ours.moved}, without us by {bare.moved}"


def is_not_understood(bare_operation):
    """Whether libcurl alone did what would be taken for a repeat of ours: then nothing can be said."""
    return len(attempts_of(bare_operation)) > 1


def judge(bare, ours):
    """What is wrong with a history: lines of text, none if nothing is."""
    policy = POLICIES[ours.policy]
    if not ours.complete:
        yield "crashed or hung"
        return
    if not ours.quiet:
        yield "a connection stayed open"
    same_options = True
    for bare_operation, operation in zip(bare.operations, ours.operations):
        here = f"operation {operation.index} ({policy.name}): "
        if is_not_understood(bare_operation):
            continue
        if operation.sends:
            for text in _judge_repeats(policy, operation):
                yield here + text
            if not operation.trick or len(attempts_of(operation)) > 1:
                for text in _judge_likeness(operation):
                    yield here + text
        for text in _judge_response(ours, operation):
            yield here + text
        for text in _judge_against_bare(bare_operation, operation) if same_options else ():
            yield here + text
        # A callback that only one of them came to has changed its handle's options.
        same_options = same_options and not (operation.trick and _likeness(bare_operation) != _likeness(operation))


def count_retries(history):
    return sum(max(0, len(attempts_of(operation)) - 1) for operation in history.operations)
