"""The program of the worker process: all that LLVM itself does for us, where it may abort without harm.

Run by path, not as a module, so that nothing but llvmlite is imported. Reads requests from standard input and writes
answers to standard output, each a length (8 bytes, big-endian) and a marshalled value:

    ("link", [(name, text or bitcode), ...])   -> ("ok", text)            one module of all, verified
    ("inline", text, [function, ...])          -> ("ok", text)            these inlined into all their callers
                                               or ("error", name, message)
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from typing import Any, BinaryIO

from loopless.patterns import pattern

_HIDING = "loopless.hidden."
_OPERAND = r'%[-\w.$]+|%"[^"]*"|-?\d+|undef|poison'
_UNDEFINED = pattern(
    r"^( +\S+ = )((?:[su]div|[su]rem|shl|lshr|ashr)(?: nuw| nsw| exact)*) "
    rf"(i\d+) ({_OPERAND}), ({_OPERAND})(?=,|$)",
    re.MULTILINE,
)
"""Operations that may be undefined although nothing but their value tells of them."""
_ATTRIBUTES = r"(?:(?:noundef|signext|zeroext|returned|range\([^)]*\)) )*"
"""What inlining adds to the result and the arguments of a call: what it knew of those of the call around it."""
_HIDDEN = pattern(
    rf"^( +\S+ = )(?:tail |notail )?call {_ATTRIBUTES}i\d+ @{re.escape(_HIDING)}([a-z.]+)\.(i\d+)\((.*)$", re.MULTILINE
)
_ARRAY_FIRST = pattern(r'^(%[-\w.$]+|%"[^"]*") = type <?\{ \[', re.MULTILINE)
"""The types of structures that begin with an array."""
_STEP = pattern(
    rf'^( +\S+ = )(getelementptr inbounds(?: nuw)?) (%[-\w.$]+|%"[^"]*"), ptr ({_OPERAND}), i32 0, i32 0(?=,|$)',
    re.MULTILINE,
)
_OF_POINTERS = (
    r"(?:(?:noundef|nonnull|noalias|nofree|nocapture|readonly|writeonly|readnone|align \d+|returned"
    r"|captures\([^)]*\)|dereferenceable(?:_or_null)?\(\d+\)) )*"
)
"""As :data:`_ATTRIBUTES`."""
_HIDDEN_STEP = pattern(
    rf"^( +\S+ = )(?:tail |notail )?call {_OF_POINTERS}ptr @{re.escape(_HIDING)}step([0-9]+)\((.*)$", re.MULTILINE
)
_DISCARDABLE = frozenset({"internal", "private", "linkonce", "linkonce_odr", "available_externally"})


def _main() -> None:
    import llvmlite.binding as llvm

    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever LLVM prints must not end up among the answers
    llvm.initialize_native_target()
    while (request := _receive(requests)) is not None:
        kind, *rest = request
        answer = _link(llvm, *rest) if kind == "link" else _inline(llvm, *rest)
        data = marshal.dumps(answer)
        answers.write(len(data).to_bytes(8, "big") + data)
        answers.flush()


def _receive(requests: BinaryIO) -> Any:
    head = requests.read(8)
    return marshal.loads(requests.read(int.from_bytes(head, "big"))) if len(head) == 8 else None  # noqa: S302


def _link(llvm: Any, parts: list[tuple[str, str | bytes]]) -> tuple[str, ...]:
    context = llvm.create_context()  # a fresh one, else the names of types depend on what was read before
    whole = None
    for name, content in parts:
        try:
            if isinstance(content, bytes):
                module = llvm.parse_bitcode(content, context)
            else:
                module = llvm.parse_assembly(content, context)
            module.verify()
            if whole is None:
                whole = module
                continue
            here, before = ((m.triple, m.data_layout) for m in (module, whole))
            if here != before:
                return "error", name, f"target: {here[0]}, the files before it: {before[0]}"
            whole.link_in(module)
        except RuntimeError as e:
            return "error", name, str(e)
    return "ok", str(whole)


def _inline(llvm: Any, text: str, names: list[str]) -> tuple[str, ...]:
    """Inlining by LLVM's always-inliner; clang marks every function noinline at -O0, which must go first. So must the
    mark ``alwaysinline`` of functions that were not chosen: the pass would inline them and drop their definitions.

    So must the processor's features: the pass wants a target machine, and that of the host serves for any module only
    where no function asks for what it does not have (LLVM aborts then).
    The functions stay even where no call is left, for they are asked about by name: to the pass they are external.
    Divisions and shifts are hidden from it: of ``0 / x`` it would leave 0, also where x is 0 and that is undefined. So
    are steps to arrays at the beginning of structures, which it would leave out: then the array would be no member.
    """
    text = re.sub(r"^attributes #\d+ = \{.*\}$", _plain_group, text, flags=re.MULTILINE)
    text, steps = _hidden(text)
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        hidden = []
        for name in names:
            function = module.get_function(name)
            function.add_function_attribute("alwaysinline")
            linkage = function.linkage.name
            if linkage in _DISCARDABLE:
                hidden.append((function, function.linkage))
                function.linkage = "external"
        machine = llvm.Target.from_triple(llvm.get_default_triple()).create_target_machine()
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.run(module, builder)
        for function, linkage in hidden:
            function.linkage = linkage
        module.verify()
        return "ok", _shown(str(module), steps)
    except RuntimeError as e:
        return "error", "", str(e)


def _hidden(text: str) -> tuple[str, list[str]]:
    """The text with calls of functions that nothing knows in place of divisions, shifts and steps to arrays; and the
    kinds of these steps.
    """
    names: set[tuple[str, str]] = set()
    begins, steps = set(_ARRAY_FIRST.findall(text)), dict[str, int]()

    def step(m: re.Match[str]) -> str:
        start, operation, kind, base = m.groups()
        if kind not in begins:
            return m[0]
        number = steps.setdefault(f"{operation} {kind}", len(steps))
        return f"{start}call ptr @{_HIDING}step{number}(ptr {base})"

    def call(m: re.Match[str]) -> str:
        start, operation, kind, left, right = m.groups()
        name = f"{_HIDING}{operation.replace(' ', '.')}.{kind}"
        names.add((name, kind))
        return f"{start}call {kind} @{name}({kind} {left}, {kind} {right})"

    text = _UNDEFINED.sub(call, text)
    if begins:
        text = _STEP.sub(step, text)
    text += "".join(f"\ndeclare {kind} @{name}({kind}, {kind}) nounwind\n" for name, kind in sorted(names))
    text += "".join(f"\ndeclare ptr @{_HIDING}step{number}(ptr) nounwind\n" for number in steps.values())
    return text, list(steps)


def _shown(text: str, steps: list[str]) -> str:
    """The text with the operations that :func:`_hidden` took out."""
    text = _HIDDEN.sub(_operation, text)
    text = _HIDDEN_STEP.sub(lambda m: _step(m, steps), text)
    text = re.sub(rf"^declare \S+ @{re.escape(_HIDING)}.*\n", "", text, flags=re.MULTILINE)
    assert _HIDING not in text
    return text


def _operation(m: re.Match[str]) -> str:
    """A call of a function that hides an operation as the operation. Its operands may be constant expressions."""
    operands, rest = _apart(m[4])
    left, right = (re.sub(rf"^{_ATTRIBUTES}", "", operand.strip().partition(" ")[2]) for operand in operands)
    return f"{m[1]}{m[2].replace('.', ' ')} {m[3]} {left}, {right}{re.sub(r'^ #[0-9]+', '', rest)}"


def _step(m: re.Match[str], steps: list[str]) -> str:
    """A call of a function that hides a step to an array as the step."""
    (base,), rest = _apart(m[3])
    base = re.sub(rf"^{_OF_POINTERS}", "", base.strip().partition(" ")[2])
    return f"{m[1]}{steps[int(m[2])]}, ptr {base}, i32 0, i32 0{re.sub(r'^ #[0-9]+', '', rest)}"


def _apart(text: str) -> tuple[list[str], str]:
    """What stands between commas up to the parenthesis that ends it, and what is behind that."""
    depth, start, found = 0, 0, []
    for at, sign in enumerate(text):
        if depth == 0 and sign in ",)":
            found.append(text[start:at])
            start = at + 1
            if sign == ")":
                return found, text[start:]
        depth += (sign == "(") - (sign == ")")
    raise ValueError(f"no end of the arguments in {text!r}")


def _plain_group(m: re.Match[str]) -> str:
    head, brace, rest = m.group().partition("{")
    words, quote, strings = rest.partition('"')
    strings = re.sub(r'"(?:target-cpu|target-features|tune-cpu)"="[^"]*" ?', "", quote + strings)
    return head + brace + re.sub(r" (?:alwaysinline|noinline|optnone)(?= )", "", words) + strings


if __name__ == "__main__":
    _main()
