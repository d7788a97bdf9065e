#!/usr/bin/env python3
"""Counts the tokens of each program here and of its twin in Python.

Takes nothing; prints a line for each pair, and ends with exit code 1 if a program has more than 1.3
times the tokens of its twin. Comments and blank lines count nothing; the tokens of Python are those of
its own lexer, ends of statements and levels of indentation included, as `;`, `do` and `done` are
counted in Felis. A text in quotes is one token in both, whatever stands in it.
"""

import io
import pathlib
import re
import sys
import tokenize

MOST = 1.3

FELIS = re.compile(
    r"""
    //[^\n]*                                    # a comment
  | f?\"\"\".*?\"\"\" | f?"(?:\\.|[^"\\\n])*"   # a text
  | '(?:\\.|[^'\\\n])'                          # a character
  | `\d+:\d+                                    # an index
  | \d+(?:\.\d+)?(?:[eE][-+]?\d+)?\w* | [A-Za-z_]\w*'*
  | :>> | :> | \|> | => | -> | <- | == | != | <= | >= | \*\* | \.\.<? | :: | [-+*/]= | \\[-+*^,] | [^\s]
    """,
    re.VERBOSE | re.DOTALL,
)


def felis_tokens(text):
    """Returns the number of tokens of a program in Felis."""
    return sum(not token.startswith("//") for token in FELIS.findall(text))


def python_tokens(text):
    """Returns the number of tokens of a program in Python."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER, tokenize.ENCODING}
    count, inside = 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        # From 3.12 on the parts of an f-string are tokens.
        name = tokenize.tok_name[token.type]
        inside += (name == "FSTRING_START") - (name == "FSTRING_END")
        if name == "FSTRING_END" and inside == 0:
            count += 1
        elif inside == 0 and token.type not in silent:
            count += 1
    return count


def main():
    """Prints the counts of all pairs; returns the exit code."""
    here = pathlib.Path(__file__).parent
    code = 0
    print(f"{'program':12}{'Felis':>7}{'Python':>8}{'ratio':>7}")
    for program in sorted(here.glob("*.flx")):
        own = felis_tokens(program.read_text())
        twin = python_tokens(program.with_suffix(".py").read_text())
        over = own > MOST * twin
        code = code or int(over)
        print(f"{program.stem:12}{own:7}{twin:8}{own / twin:7.2f}{'  too many' if over else ''}")
    return code


if __name__ == "__main__":
    sys.exit(main())
