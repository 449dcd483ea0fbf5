"""A command line -> its commands and the operators between them, or a refusal (A6).

tree-sitter-bash parses it. What is understood is a short list of kinds of node: commands of plain words,
pipes, `&&`, `||`, `;`, groups, `!`, a comment, a redirection to /dev/null or from a file. Any other kind of
node is refused, and so is a parse with an error in it. Every byte must belong to a node that was understood,
or be a blank or a line break where one may stand: a byte that the grammar skipped is one that bash might see.

The parts come in the order in which they are written, so that what is rendered from them is what was read.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from memdir.agent.shell.refused import Refused
from memdir.agent.shell.word import Word, read, without_braces

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

LONGEST = 10_000
"""Characters of a command line. A longer one is no question about a project."""
MOST_COMMANDS = 40
LONGEST_PIPE = 8
"""Commands that run at once, each with the memory that `run` grants it."""
DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. `fed`: something is on its standard input, a pipe or a file."""

    words: tuple[Word, ...]
    fed: bool


@dataclass(frozen=True, slots=True)
class Source:
    """`< file` or `<<< text`, behind the command that is fed by it."""

    operator: str
    word: Word


Part: TypeAlias = Command | Source | str
"""A command, what feeds it, or an operator as bash knows it, blanks included."""


def parts(text: str) -> tuple[Part, ...]:
    """Understand a command line.

    Raises:
        Refused: it is longer, deeper or other than what is understood. The message says what.
    """
    _check_characters(text)
    try:
        root = _parser().parse(_stand_in(text)).root_node
    except ImportError as error:
        raise Refused(f"commands can't be judged here: {error.name} is not installed") from error
    if root.has_error:
        raise Refused("it could not be parsed as a bash command line")
    reader = _Reader(text)
    reader.statements(root, depth=0)
    commands = sum(isinstance(part, Command) for part in reader.parts)
    if not commands:
        raise Refused("there is no command in it")
    if commands > MOST_COMMANDS:
        raise Refused(f"it has more than {MOST_COMMANDS} commands; ask for less at once")
    return tuple(reader.parts)


def _check_characters(text: str) -> None:
    if len(text) > LONGEST:
        raise Refused(f"it is longer than {LONGEST:,} characters")
    for character in text:
        if (character < " " and character not in "\n\t") or character == "\x7f":
            raise Refused(f"it holds a control character, U+{ord(character):04X}")
        if "\ud800" <= character <= "\udfff":
            raise Refused("it holds a character that is no text")


def _parser() -> Parser:
    """A parser of its own for each question: one may not be used by two threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())


def _stand_in(text: str) -> bytes:
    """The text for the parser: a letter in the place of each character that is not ASCII.

    The grammar's scanner looks such characters up in a table of bytes, reads behind its end, and can bring
    the process down. No word of the shell's own has this letter; what stood there is judged as a word.
    """
    return "".join(character if character < "\x80" else "Q" for character in text).encode("ascii")


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


_WORDS = {"word", "number", "raw_string", "string", "concatenation"}
_INSIDE_WORDS = {*_WORDS, "string_content", '"', "'", "]", "[", "$"}
_JOINERS = {"&&": " && ", "||": " || ", "|": " | ", "|&": " 2>&1 | "}
_NO_SUCH = {
    "command_substitution": "command substitution is not available; run that command by itself first",
    "process_substitution": "process substitution is not available; run that command by itself first",
    "variable_assignment": "variables can't be set",
    "variable_assignments": "variables can't be set",
    "declaration_command": "variables can't be set",
    "unset_command": "variables can't be changed",
    "simple_expansion": "variables are not available; write the value out (and leave `echo $?` out)",
    "expansion": "variables are not available; write the value out",
    "arithmetic_expansion": "arithmetic is not available",
    "function_definition": "functions can't be defined",
    "for_statement": "loops are not available; name several files in one command instead",
    "c_style_for_statement": "loops are not available",
    "while_statement": "loops are not available",
    "if_statement": "`if` is not available; use && and ||",
    "case_statement": "`case` is not available",
    "heredoc_redirect": "here-documents are not available; use <<< 'text'",
    "ansi_c_string": "$'...' is not available; use plain quotes",
    "translated_string": '$"..." is not available; use plain quotes',
    "&": "nothing may be left running in the background",
}
_CONTINUED = re.compile(r"(?<=[ \t])\\\n")
"""A line that goes on, behind a blank: so it can be in no word."""
_ONLY_NULL = "output may go to /dev/null only; files are written with the Write tool, inside memory"


class _Reader:
    """The walk over one tree. `parts` grows in the order of the text.

    The parser was given one byte for each character, so that its places in bytes are places in the text.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._piped = 0
        self.parts: list[Part] = []

    def statements(self, node: Node, *, depth: int, fed: bool = False) -> None:
        """What stands in a file, in `( )` or in `{ }`: statements with `;` or line breaks between them."""
        began = False
        ended = True
        for child in self._children(node, lines=True):
            match child.type:
                case "comment":
                    self._comment(child)
                case "(" | ")" | "{" | "}":
                    pass
                case ";" if began and not ended:
                    ended = True
                case kind if child.is_named:
                    if began:
                        self.parts.append("; ")
                    self.statement(child, depth=depth + 1, fed=fed)
                    began, ended = True, False
                case kind:
                    raise _unknown(kind)
        if not began and node.type != "program":
            raise Refused("a group has no command in it")

    def statement(self, node: Node, *, depth: int, fed: bool) -> None:
        """One statement, whatever it is made of."""
        if depth > DEEPEST:
            raise Refused("it is nested too deeply")
        match node.type:
            case "command":
                self._command(node, fed=fed)
            case "test_command":
                self._test(node, fed=fed)
            case "list" | "pipeline":
                self._joined(node, depth=depth, fed=fed)
            case "negated_command":
                bang, *rest = self._children(node)
                if bang.type != "!" or len(rest) != 1:
                    raise _unknown(node.type)
                self.parts.append("! ")
                self.statement(rest[0], depth=depth + 1, fed=fed)
            case "subshell":
                self.parts.append("( ")
                self.statements(node, depth=depth, fed=fed)
                self.parts.append(" )")
            case "compound_statement":
                self.parts.append("{ ")
                self.statements(node, depth=depth, fed=fed)
                self.parts.append("; }")
            case "redirected_statement":
                self._redirected(node, depth=depth, fed=fed)
            case kind:
                raise _unknown(kind)

    def _joined(self, node: Node, *, depth: int, fed: bool) -> None:
        """Statements with operators between them; behind a pipe a command is fed."""
        expects_operator = False
        for child in self._children(node, lines=True):
            if child.type == "comment":
                self._comment(child)
            elif expects_operator:
                if child.type not in _JOINERS:
                    raise _unknown(child.type)
                self.parts.append(_JOINERS[child.type])
                is_pipe = child.type in ("|", "|&")
                self._piped = self._piped + 1 if is_pipe else 0
                if self._piped >= LONGEST_PIPE:
                    raise Refused(f"a pipe may have at most {LONGEST_PIPE} commands")
                fed = is_pipe or (fed and node.type == "list")
                expects_operator = False
            else:
                self.statement(child, depth=depth + 1, fed=fed)
                expects_operator = True
        if not expects_operator:
            raise _unknown(node.type)

    def _redirected(self, node: Node, *, depth: int, fed: bool) -> None:
        body, *redirects = self._children(node)
        if redirects and redirects[0].start_byte == body.end_byte:
            raise Refused("write a blank before a redirection")
        fed = fed or any(_feeds(redirect) for redirect in redirects)
        self.statement(body, depth=depth + 1, fed=fed)
        for redirect in redirects:
            self._redirect(redirect)

    def _command(self, node: Node, *, fed: bool) -> None:
        words: list[Word] = []
        redirects: list[Node] = []
        children = self._children(node)
        for one, other in pairwise(children):
            if one.end_byte == other.start_byte:
                raise Refused("write a blank between words")
        for child in children:
            match child.type:
                case "command_name":
                    inner = self._children(child)
                    if len(inner) != 1 or inner[0].type != "word":
                        raise Refused("the name of a command must be a plain word")
                    words.append(self._word(inner[0]))
                case "herestring_redirect" | "file_redirect":
                    if not words:
                        raise Refused("write redirections behind the command")
                    redirects.append(child)
                case kind if kind in _WORDS:
                    if redirects:
                        raise Refused("write redirections behind the last word of a command")
                    words.extend(self._words(child))
                case kind:
                    raise _unknown(kind)
        if not words or not words[0].bare or words[0].is_pattern:
            raise Refused("the name of a command must be a plain word")
        fed = fed or any(_feeds(redirect) for redirect in redirects)
        self.parts.append(Command(tuple(words), fed))
        for redirect in redirects:
            self._redirect(redirect)

    def _test(self, node: Node, *, fed: bool) -> None:
        """`[ -f x ]` and `[[ -f x ]]` are `test -f x`."""
        opened, *inner, closed = self._children(node)
        if (opened.type, closed.type) not in (("[", "]"), ("[[", "]]")):
            raise _unknown(node.type)
        words: list[Word] = []
        waiting = inner[::-1]
        end = opened.end_byte
        while waiting:
            child = waiting.pop()
            match child.type:
                case "unary_expression" | "binary_expression":
                    waiting.extend(self._children(child)[::-1])
                    continue
                case _ if child.start_byte == end:
                    raise Refused("write a blank between words")
                case "test_operator" | "=" | "==" | "!=" | "!":
                    words.append(read(self._text(child)))
                case kind if kind in _WORDS:
                    words.append(self._word(child))
                case kind:
                    raise _unknown(kind)
            end = child.end_byte
        if closed.start_byte == end:
            raise Refused("write a blank between words")
        self.parts.append(Command((read("test"), *words), fed))

    def _words(self, node: Node) -> list[Word]:
        """The words that bash makes of one: several where it has braces."""
        self._check_inside(node)
        return [read(one) for one in without_braces(self._text(node))]

    def _word(self, node: Node) -> Word:
        self._check_inside(node)
        return read(self._text(node))

    def _check_inside(self, node: Node) -> None:
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            if inner.type not in _INSIDE_WORDS:
                raise _unknown(inner.type)
            waiting.extend(inner.children)

    def _redirect(self, node: Node) -> None:
        """Output to /dev/null, a copy of a descriptor, input from a file or a word."""
        children = self._children(node)
        if node.type == "herestring_redirect":
            if len(children) != 2 or children[0].type != "<<<" or children[1].type not in _WORDS:
                raise _unknown(node.type)
            self.parts.append(Source("<<<", self._word(children[1])))
            return
        if node.type != "file_redirect":
            raise _unknown(node.type)
        descriptor = self._text(children.pop(0)) if children[0].type == "file_descriptor" else ""
        if len(children) != 2 or children[1].type not in _WORDS:
            raise Refused(_ONLY_NULL)
        operator, target = children[0].type, self._word(children[1])
        literal = "" if target.is_pattern or not target.bare else target.text
        match operator:
            case ">" | ">>" if descriptor in ("", "1", "2") and literal == "/dev/null":
                self.parts.append(f" {descriptor}>/dev/null")
            case "&>" | "&>>" if not descriptor and literal == "/dev/null":
                self.parts.append(" &>/dev/null")
            case ">&" if descriptor in ("", "1", "2") and literal in ("1", "2"):
                self.parts.append(f" {descriptor}>&{literal}")
            case "<" if descriptor in ("", "0"):
                self.parts.append(Source("<", target))
            case _:
                raise Refused(_ONLY_NULL)

    def _comment(self, node: Node) -> None:
        """A comment is left out. It must be one for bash too: from a blank to the end of the line."""
        text = self._text(node)
        before = self._source[max(node.start_byte - 1, 0) : node.start_byte]
        if before not in ("", " ", "\t", "\n"):
            raise Refused("a comment must stand behind a blank")
        if "\n" in text or "\\" in text:
            raise Refused("a comment may hold no backslash")

    def _children(self, node: Node, *, lines: bool = False) -> list[Node]:
        """The node's children. The bytes between them must be blanks, or with `lines` line breaks."""
        children = node.children
        allowed = " \t\n" if lines else " \t"
        at = node.start_byte
        for child in children:
            if child.type in _NO_SUCH:
                raise _unknown(child.type)
            self._check_gap(at, child.start_byte, " \t\n" if child is children[0] else allowed)
            if child.is_missing:
                raise Refused("it could not be parsed as a bash command line")
            at = child.end_byte
        end = len(self._source) if node.parent is None else node.end_byte
        if node.parent is None:
            self._check_gap(0, children[0].start_byte if children else end, " \t\n")
        self._check_gap(at, end, " \t\n" if node.parent is None else allowed)
        return list(children)

    def _check_gap(self, start: int, end: int, allowed: str) -> None:
        if _CONTINUED.sub("", self._source[start:end]).strip(allowed):
            raise Refused("a part of it could not be understood; write it more plainly")

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte]


def _feeds(node: Node) -> bool:
    return node.type == "herestring_redirect" or any(child.type == "<" for child in node.children)


def _unknown(kind: str) -> Refused:
    return Refused(_NO_SUCH.get(kind, f"`{kind.replace('_', ' ')}` is not available; use plain commands"))


def commands(read_parts: tuple[Part, ...]) -> Iterator[Command]:
    """The commands among the parts."""
    return (part for part in read_parts if isinstance(part, Command))
