# SPDX-License-Identifier: MIT
"""The blocks of our documents: what a reader pastes."""

import re

FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LITERAL = re.compile(r"^\.Bd -literal.*\n(?P<block>(?:.*\n)*?)^\.Ed$|^\.Dl (?P<line>.*)$", re.MULTILINE)


def blocks_of(path):
    """Each block's text, in order: fenced ones in Markdown, literal displays in a man page."""
    text = path.read_text()
    if path.suffix == ".md":
        return FENCED.findall(text)
    found = [match["block"] or match["line"] + "\n" for match in LITERAL.finditer(text)]
    return [block.replace("\\e", "\\").replace("\\&", "") for block in found]


def first_line(block):
    return block.split("\n", 1)[0]


def block_that_begins(path, words):
    """The only block whose first line begins so."""
    [block] = [block for block in blocks_of(path) if block.startswith(words)]
    return block
