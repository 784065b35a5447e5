# SPDX-License-Identifier: MIT
"""The table of real programs on libcurl (corpus/clients.toml): read, checked, and made into scripts of the origin."""

import dataclasses
import pathlib
import subprocess
import tomllib

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"
BODY = "the answer\n"

# How a program gets to libcurl, in the order of the table.
PATHS = {
    "program": "main program",
    "library": "library of the program",
    "helper": "program that it starts",
    "local": "plugin, RTLD_LOCAL",
    "global": "plugin, RTLD_GLOBAL",
    "deepbind": "plugin, RTLD_DEEPBIND",
    "dlsym": "dlsym on a handle",
    "flavours": "two flavours in one process",
}
# What an operator meets: nothing, a passing failure of two kinds, one that doesn't pass.
FAULTS = {
    "ok": "no fault",
    "503": "one 503",
    "reset": "one reset",
    "down": "always 503",
}
PASSING = ("503", "reset")
UNAVAILABLE = {"status": 503, "headers": [["Retry-After", "0"]], "body": "down\n"}


@dataclasses.dataclass(frozen=True)
class Client:
    """One row; corpus/clients.toml says what the fields mean."""

    name: str
    packages: list
    path: str
    interface: str
    command: list
    cheap: bool = False
    serve: dict = dataclasses.field(default_factory=lambda: {"/x": {"body": BODY}})
    tree: str = None
    fault_at: str = None
    status: int = 0
    output: str = None
    file: str = None
    stdin: str = ""
    env: dict = dataclasses.field(default_factory=dict)
    make: list = dataclasses.field(default_factory=list)
    write: dict = dataclasses.field(default_factory=dict)
    setup: list = dataclasses.field(default_factory=list)
    needs: list = dataclasses.field(default_factory=list)
    policy: dict = dataclasses.field(default_factory=dict)
    daemon: bool = False
    poke: list = dataclasses.field(default_factory=list)
    delivered: bool = False
    retries: str = None
    never: str = None
    note: str = None

    def __post_init__(self):
        assert self.path in PATHS, self
        assert self.interface in ("easy", "multi"), self
        assert self.tree or self.faulty_path in self.serve, self

    def __str__(self):
        return self.name

    @property
    def faulty_path(self):
        """The path at which the server fails; requests of others aren't counted."""
        return self.fault_at or next(iter(self.serve))

    @property
    def needs_binder(self):
        """A preload alone doesn't reach it."""
        return self.path in ("deepbind", "dlsym")

    @property
    def loops(self):
        """Beside tenacurl it has a retry layer of its own, which meets the faults."""
        return bool(self.retries) and self.is_wrapped and not self.never

    @property
    def is_wrapped(self):
        """tenacurl is to retry for it. Transfers of the multi interface are left alone."""
        return self.interface == "easy"


def load():
    """All rows, in the order of the file."""
    with open(CORPUS / "clients.toml", "rb") as file:
        rows = tomllib.load(file)["client"]
    clients = [Client(**row) for row in rows]
    names = [client.name for client in clients]
    assert len(set(names)) == len(names), "two clients of one name"
    return clients


def installed_packages():
    """The names of all Debian packages that are installed; none on other systems."""
    try:
        listing = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"], capture_output=True, text=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return set()
    return {line.split()[0] for line in listing.stdout.splitlines() if line.endswith(" installed")}


def why_not(client, installed):
    """What keeps the client from being tried here, or None."""
    missing = [package for package in client.packages if package not in installed]
    if missing:
        return f"not installed: {' '.join(missing)}"
    absent = [path for path in client.needs if not pathlib.Path(path).exists()]
    if absent:
        return f"missing here: {' '.join(absent)}"
    return None


def fill(text, values):
    """Replaces {url}, {port}, {tmp} and {files}; other braces belong to the program."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def _step(step, values):
    """A step as the origin reads it: `file` becomes its body."""
    step = dict(step)
    if "file" in step:
        step["body"] = {"hex": pathlib.Path(fill(step.pop("file"), values)).read_bytes().hex()}
    elif isinstance(step.get("body"), str):
        step["body"] = fill(step["body"], values)
    return step


def _tree(client, values):
    """Every file below the client's tree, as paths of the server."""
    if client.tree is None:
        return {}
    top = pathlib.Path(fill(client.tree, values))
    return {f"/{file.relative_to(top)}": {"file": str(file)} for file in top.rglob("*") if file.is_file()}


def origin_script(client, fault, values):
    """The origin's script: what the client is served, with the fault before or instead of it at one path."""
    paths = {}
    for path, steps in {**client.serve, **_tree(client, values)}.items():
        steps = [_step(step, values) for step in (steps if isinstance(steps, list) else [steps])]
        steps[-1]["repeat"] = True
        paths[path] = steps
    faults = {"503": [UNAVAILABLE], "reset": [{"fault": "reset"}]}
    at = client.faulty_path
    if fault == "down":
        paths[at] = [{**UNAVAILABLE, "repeat": True}]
    else:
        paths[at] = faults.get(fault, []) + paths[at]
    return {"steps": [{"status": 404, "body": "nothing here\n", "repeat": True}], "paths": paths}
