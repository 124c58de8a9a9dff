"""ruamel's events of a text, a little faster, and never deep."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.parser import Parser
from ruamel.yaml.scanner import Scanner, ScannerError

MOST_DEPTH = 100
TOO_DEEP = "nested too deep"


def events(text: str) -> Iterator[Any]:
    """The events of a text; brackets that nest too deep are refused before ruamel looks behind them."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner, yaml.Parser = _Scanner, _Parser
    return iter(yaml.parse(text))


class _Parser(Parser):
    """Keeps its scanner instead of asking for it at every token."""

    @cached_property
    def scanner(self) -> Any:
        return self.loader.scanner


class _Scanner(Scanner):
    """Looks for more tokens once a token, not at every question about the next one."""

    ready = False

    def check_token(self, *choices: Any) -> bool:
        token = self.peek_token()
        return token is not None and (not choices or isinstance(token, choices))

    def peek_token(self) -> Any:
        if not self.ready:
            while self.need_more_tokens():
                self.fetch_more_tokens()
            self.ready = True
        return self.tokens[0] if self.tokens else None

    def get_token(self) -> Any:
        self.peek_token()
        self.ready = False
        self.tokens_taken += 1
        return self.tokens.pop(0)

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: Any) -> None:
        if len(self.flow_context) >= MOST_DEPTH:
            raise ScannerError(None, None, TOO_DEEP, self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)
