"""Terms and conditions as people read them: C syntax over unbounded integers, plus ``min``, ``max``, ``floor_div``,
``ceil_div``, ``mod``, ``pow`` and the named functions ``first_in_range``, ``floor_sum``, ``table``, ``linear_power``,
``digits``, ``least(k: condition)``, and aggregates over positions, as ``first(k < n: condition)``. ``/`` and ``%`` are
printed where C's meaning is meant or agrees.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from loopless.limits.terms import MAX_BRIEF_NODES, MAX_READABLE_FACTOR, MAX_SHARED_NODES
from loopless.terms.aggregates import counted, folding
from loopless.terms.bound_names import bound_names, value_names, words_of
from loopless.terms.build import Polynomial, fits, from_polynomial, polynomial, sub
from loopless.terms.conditions import negate
from loopless.terms.functions import coefficients, curve_at
from loopless.terms.idioms import fitting, searched
from loopless.terms.memory_names import (
    ReadAs,
    about_nodes,
    about_null,
    about_pointers,
    declared,
    element_called,
    equal_as_declared,
    length_in_words,
    located,
    offset_in_list,
    read_as,
    reading,
)
from loopless.terms.nodes import (
    LIST,
    OBJECT_IN_LIST,
    ONE,
    STREAM,
    ZERO,
    Aggregate,
    And,
    Compare,
    Condition,
    Const,
    Folding,
    Ite,
    Monomial,
    Node,
    Op,
    Or,
    Read,
    Sum,
    Term,
    TermTooLarge,
    Truth,
    Var,
    Wrap,
    counts_values,
    in_list,
    is_made,
    walk_inside,
)
from loopless.terms.numerals import PLAIN, Style, addend, at_a_limit, counts_up, numeral, roundness
from loopless.terms.operators import (
    AND,
    ATOM,
    CHOICE,
    OPERATORS,
    OR,
    PLUS,
    RELATION,
    RELATIONS,
    TIMES,
    UNARY,
    Infix,
)
from loopless.terms.presentation import presented, presented_comparison
from loopless.terms.sharing import FreshNames, is_plain, measured, number_of_parts, parts_to_name
from loopless.terms.term_ranges import range_of
from loopless.terms.types import INTEGERS, IntType, type_name


def text(node: Node, style: Style = PLAIN) -> str:
    """``node`` in C syntax; where that is long, with names for its parts: ``t1 + t1*t1 where t1 = max(0, n - i)``."""
    if is_plain(node):
        return _written(node, {}, style)
    parts = Definitions(words_of((node,)), style)
    shown = parts.text(node)
    return f"{shown} where {', '.join(f'{name} = {value}' for name, value in parts.values)}" if parts.values else shown


Node.written = text


def text_afterwards(element: Read, style: Style = PLAIN) -> str:
    """What an element is called that is meant as it is afterwards: ``a'[j]``, ``p->items'[j].len``."""
    return _Writer({}, None, style, element).element(element, "'")[0]


def brief(node: Node) -> str:
    """``node`` in C syntax for a sentence: only said to be long if it has more than :data:`MAX_BRIEF_NODES` parts."""
    parts = sum(1 for _ in islice(walk_inside(node), MAX_BRIEF_NODES + 1))
    return text(node) if parts <= MAX_BRIEF_NODES and is_plain(node) else "a long expression"


_ENDLESS = 1 << 61
"""So many positions are as good as all that there are."""


class Definitions:
    """Names for parts of the expressions that are printed together, and what the names stand for."""

    def __init__(self, taken: Container[str], style: Style = PLAIN) -> None:
        """``taken``: names that no part may have."""
        self.style = style
        self.values: list[tuple[str, str]] = []
        self._names: dict[Node, str] = {}
        self._fresh = FreshNames(taken)

    def text(self, node: Node, style: Style | None = None) -> str:
        """``node`` in C syntax, with the names where it is long; parts get new ones as they are needed. What is too
        large for that is said to be. ``style`` is for what is written out whole.
        """
        if is_plain(node):
            return _written(node, {}, style or self.style)
        if node in self._names:
            return self._names[node]
        size = number_of_parts(node)
        if size > MAX_SHARED_NODES:
            return too_large(size)
        for part in parts_to_name(node, known=self._names):
            shown = _written(part, self._names, self.style)
            self._names[part] = self._fresh(part)
            self.values.append((self._names[part], shown))
        return _written(node, self._names, self.style)


def too_large(size: int) -> str:
    """What stands where an expression of ``size`` different parts would."""
    return f"an expression of {size} parts, too large to be written"


def _written(node: Node, names: Mapping[Node, str], style: Style = PLAIN) -> str:
    """``node`` with the names of its parts; in its canonical form where the one that reads better is much longer."""
    size, _ = measured(node, names)
    try:
        return _Writer(names, MAX_READABLE_FACTOR * size + MAX_BRIEF_NODES, style, node).text(node)
    except _TooLong:
        return _Writer(names, None, style, node).text(node)


class _TooLong(Exception):
    pass


class _Writer:
    def __init__(self, names: Mapping[Node, str], left: int | None, style: Style, whole: Node) -> None:
        """``left``: how many parts may be written; None: any number, in the canonical form. ``whole``: what all is."""
        self.whole = whole
        self.style = style
        self.layouts = style.layouts or declared()
        self.names = names
        self.left = left
        self.bound: dict[Var, str] = {}
        """What bound variables are called here."""

    @cached_property
    def words(self) -> set[str]:
        """The words that no bound variable may be, beside those that the style knows."""
        return words_of((self.whole,))

    def free_names(self, letter: str) -> Iterator[str]:
        """Names for bound variables, which nothing else has that is printed with them."""
        inner = self.bound.values()
        return (name for name in bound_names(self.words, letter) if name not in self.style.taken and name not in inner)

    def text(self, node: Node) -> str:
        return self.print(node)[0]

    def print(self, node: Node) -> tuple[str, int]:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise _TooLong
        name = self.names.get(node)
        return (name, ATOM) if name is not None else self._printed(node)

    def _printed(self, node: Node) -> tuple[str, int]:
        match node:
            case Const():
                return self._constant(node.value)
            case Var():
                return self._variable(node)
            case Aggregate():
                return self._aggregate(node), ATOM
            case Sum():
                shown = self._presented(node)
                return self._sum(shown) if isinstance(shown, Sum) else self.print(shown)
            case Op():
                bits = reading(node) if node.op == "mod" and node.args[0] not in self.names else None
                if bits is not None and self._is_declared(bits):
                    return self._read(bits)
                return self._operator(node)
            case Wrap():
                bits = reading(node)
                if bits is not None and node.arg not in self.names:
                    return self._read(bits)
                shown = self._presented(self._modulo(node.arg, node.type))
                if fits(shown, node.type):
                    return self.print(shown)
                inside = self._within(shown, UNARY) if isinstance(shown, Read) else f"({self.text(shown)})"
                return f"({type_name(node.type)}){inside}", UNARY
            case Ite():
                condition, then = self._within(node.condition, OR), self._within(node.then, OR)
                return f"{condition} ? {then} : {self._within(node.otherwise, CHOICE)}", CHOICE
            case Read():
                return self._read(node)
            case Truth():
                return ("true" if node.value else "false"), ATOM
            case Compare():
                return self._comparison(node, ())
            case And() | Or():
                return self._joined(node)
            case _:
                raise AssertionError(type(node))

    def _variable(self, node: Var) -> tuple[str, int]:
        pointer = self.style.pointers.get(node) if node.type.width is None else None
        if pointer is not None:
            return f"{self.style.function('object')}({pointer})", ATOM
        shown = self.bound.get(node, node.name)
        return shown, CHOICE if " " in shown and not shown.endswith(")") else ATOM

    def _constant(self, value: int) -> tuple[str, int]:
        shown = self._number(value)
        if " " in shown:
            return shown, PLUS
        return shown, UNARY if shown.startswith("-") else ATOM

    def _number(self, value: int) -> str:
        """The number by the end of a type or the power of two that it is, or is near to."""
        return " ".join(numeral(value)) if self.style.numerals else str(value)

    def _presented(self, term: Term) -> Term:
        """The term in the form that reads best, as far as no part with a name is opened for that."""
        return term if self.left is None or term in self.names else presented(term, closed=self._is_closed)

    def _polynomial(self, term: Term) -> Polynomial:
        """The term as a polynomial; what has a name is not opened."""
        return {((term, 1),): 1} if term in self.names else polynomial(term)

    def _is_closed(self, quotient: Op) -> bool:
        return quotient in self.names or quotient.args[0] in self.names

    def _within(self, node: Node, level: int) -> str:
        """The text of ``node``, in parentheses where it binds weaker than ``level``."""
        shown, own = self.print(node)
        return f"({shown})" if own > level else shown

    def _sum(self, node: Sum) -> tuple[str, int]:
        items = sorted(node.items, key=lambda item: (item[0] == (), item[1] < 0, _is_operation(item[0])))
        if items[-1][0] == () and items[-1][1] > 0 and items[0][1] < 0:
            items = [items[-1], *items[:-1]]  # 8 - i, not -i + 8
        pieces: list[str] = []
        for monomial, coefficient in items:
            if not monomial and self.style.numerals:
                pieces += addend(coefficient, first=not pieces)
                continue
            shown = self._monomial(monomial, abs(coefficient))
            if not pieces:
                pieces.append(_signed(shown, coefficient))
            else:
                pieces.append(f"- {shown}" if coefficient < 0 else f"+ {shown}")
        if len(pieces) == 1:
            return pieces[0], UNARY if pieces[0].startswith("-") else TIMES
        return " ".join(pieces), PLUS

    def _monomial(self, monomial: Monomial, coefficient: int) -> str:
        factors = [] if coefficient == 1 and monomial else [self._factor(coefficient)]
        for atom, exponent in monomial:
            factors.extend([self._within(atom, UNARY)] * exponent)
        return "*".join(factors)

    def _factor(self, coefficient: int) -> str:
        shown, level = self._constant(coefficient)
        return f"({shown})" if level > ATOM else shown

    def _operator(self, node: Op) -> tuple[str, int]:
        op, args = node.op, node.args
        if op == "floor_div":
            rounded_up = self._ceil(args[0], args[1])
            if rounded_up is not None:
                return rounded_up, ATOM
        infix = OPERATORS[op].infix
        if infix is not None and (not infix.of_naturals or _are_natural(args[0], args[1])):
            return self._infix(infix, args[0], args[1])
        if op in ("first_positive", "first_zero"):
            try:
                return self._least(node), ATOM
            except TermTooLarge:  # a coefficient of as high a degree as there may be
                pass
        if op == "linear_power":
            return self._linear_power(args), ATOM
        if op == "table":
            entries = ", ".join(self.text(arg) for arg in args[1:])
            return f"{self.style.function(op)}({self.text(args[0])}; {entries})", ATOM
        return f"{self.style.function(op)}({', '.join(self.text(arg) for arg in args)})", ATOM

    def _least(self, node: Op) -> str:
        """``least(k: k*k >= n)``: the condition on a k that is no variable of it. Raises :class:`TermTooLarge`."""
        k = Var(next(self.free_names("k")), _COUNTS)
        poly = polynomial(curve_at(coefficients(node.args), k))
        sign = "=="
        if node.op == "first_positive":
            strict = poly.get((), 0) != 1
            sign = ">" if strict else ">="
            if not strict:
                del poly[()]
        left = from_polynomial({monomial: c for monomial, c in poly.items() if c > 0})
        right = from_polynomial({monomial: -c for monomial, c in poly.items() if c < 0})
        least = self.style.function("least")
        return f"{least}({k.name}: {self._within(left, PLUS)} {sign} {self._within(right, PLUS)})"

    def _aggregate(self, node: Aggregate, called: str = "", said: Condition | None = None) -> str:
        """``first(k < n: a[k] == c)``; of a fold ``fold(v = 1; k < n: v' = 31*v + a[k])``. ``called`` another name, and
        ``said`` another condition inside.
        """
        length = length_in_words(node) if said is None else None
        if length is not None:
            return f"{self.style.function('length')}({length})"
        shared = folding(node) if self.style.folds else None
        if shared is not None and shared in self.style.folds:
            chosen = f".{value_names(node, self.style.taken)[node.outside[1].value]}" if len(node.inside) > 1 else ""  # type: ignore[attr-defined]
            return f"{self.style.folds[shared]}({self.text(node.outside[0])}){chosen}"
        k, values = next(self.free_names("k")), self.free_names("v")
        before = self.bound
        outside = [self.text(part) for part in node.outside]
        self.bound = {**before, node.bound[0]: k, **dict(zip(node.bound[1:], values, strict=False))}
        condition = counted(node)
        told = (said,) if said is not None else (condition,) if condition is not None else node.inside
        inside = [self.text(part) for part in told]
        names = [self.bound[variable] for variable in node.bound]
        self.bound = before
        limit = node.outside[0] if node.kind != "earliest" else None
        if limit is None or (isinstance(limit, Const) and limit.value >= _ENDLESS):
            over = k
        elif isinstance(limit, Sum) and polynomial(limit).get(()) == 1:
            over = f"{k} <= {self.text(sub(limit, ONE))}"
        else:
            over = f"{k} < {outside[0]}"
        if node.kind == "fold":
            number = node.outside[1]
            assert isinstance(number, Const)
            starts = ", ".join(f"{name} = {start}" for name, start in zip(names[1:], outside[2:], strict=True))
            steps = ", ".join(f"{name}' = {step}" for name, step in zip(names[1:], inside, strict=True))
            chosen = f".{names[1 + number.value]}" if len(inside) > 1 else ""
            return f"{self.style.function('fold')}({starts}; {over}: {steps}){chosen}"
        start = f"{outside[1]}; " if len(outside) > 1 else ""
        kind = self.style.function(called or ("count" if condition is not None else node.kind))
        return f"{kind}({start}{over}: {inside[0]})"

    def _linear_power(self, args: tuple[Term, ...]) -> str:
        size = args[1]
        assert isinstance(size, Const)
        n, shown = size.value, [self.text(arg) for arg in args[2:]]
        groups = [f"[{', '.join(shown[i * n : i * n + n])}]" for i in range(n + 1)]
        return f"{self.style.function('linear_power')}({self.text(args[0])}; {', '.join(groups[:n])}; {groups[n]})"

    def _infix(self, infix: Infix, a: Term, b: Term) -> tuple[str, int]:
        shown = f"{self._within(a, UNARY)} {infix.sign} {self._within(b, infix.right)}"
        return (f"({shown})" if infix.level == ATOM else shown), infix.level

    def _ceil(self, a: Term, b: Term) -> str | None:
        """A quotient that is rounded down as one that is rounded up, where that reads better."""
        if not isinstance(b, Const) or b.value <= 1:
            return None
        low = range_of(a)[0]
        poly = self._polynomial(a)
        constant = poly.get((), 0)
        upper = constant - b.value + 1
        if (upper == 0 and (low is None or low < 0)) or counts_up(poly, constant, upper):
            rest = from_polynomial({**{m: c for m, c in poly.items() if m}, (): upper})
            return f"{self.style.function('ceil_div')}({self.text(rest)}, {self.text(b)})"
        return None

    def _read(self, node: Read) -> tuple[str, int]:
        """An element as it is declared, ``a[k]``; read with another sign, ``(uint8_t)a[k]``; what is no element as it
        is declared by its bytes, ``*(uint16_t *)((char *)a + 2*k)``.
        """
        if node.array.endswith(STREAM):
            return f"{node.array}[{self.text(node.offset)}]", ATOM
        return self.element(node)

    def _modulo(self, term: Term, type: IntType) -> Term:
        """The term with elements as they are declared, of which only the bits of a type count: signs do not matter."""
        poly = self._polynomial(term)
        signs: dict[Monomial, Monomial] = {}
        for monomial in poly:
            atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
            if isinstance(atom, Read) and atom not in self.names and atom.type.width == type.width:
                other = Read(atom.array, atom.offset, IntType(atom.type.width, signed=not atom.type.signed))
                if not counts_values(atom.array) and self._is_declared(other):
                    signs[monomial] = ((other, 1),)
        return from_polynomial({signs.get(m, m): c for m, c in poly.items()}) if signs else term

    def _is_declared(self, node: Read) -> bool:
        """Whether an element is declared as the type that is read."""
        place = located(node, self._polynomial(node.offset), self.layouts).place
        return place is not None and place.scalar.type == node.type

    def element(self, node: Read, mark: str = "") -> tuple[str, int]:
        """An element, with a ``mark`` behind the name of what it is an element of."""
        node_of = in_list(node.array)
        if node_of is not None:
            shown = f"{node_of[0]}[{self.text(node.offset)}]{node_of[1].removesuffix(OBJECT_IN_LIST)}{mark}"
            owner = offset_in_list(node) is not None
            return f"{self.style.function('object')}({shown})" if owner else shown, ATOM
        array = node.array.removeprefix("*")
        where = located(node, self._polynomial(node.offset), self.layouts)
        if self.style.told is not None:
            self.style.told.add(ReadAs.of(node, where.place))
        if where.place is None:
            offset = self._within(from_polynomial(where.offset), TIMES)
            address = f"(char *){'&' if where.layout.whole else ''}{array}{mark}"
            return f"*({read_as(node.type)} *)({address} + {offset})", UNARY
        element = element_called(array, where.place, [self.text(index) for index in where.place.indices], mark)
        if node.type in (where.place.scalar.type, INTEGERS):
            return element, ATOM
        return f"({read_as(node.type)}){element}", UNARY

    def _joined(self, node: And | Or) -> tuple[str, int]:
        """Conjuncts or disjuncts, those in one word that say together that a value fits a type, or that it does not."""
        both = isinstance(node, And)
        pairs = fitting(node.args, all_of=both) if self.style.numerals else {}
        pointers = about_pointers(node.args, self.style.halves, self.style.pointers, all_of=both)
        for at, (left, right, other) in about_nodes(node.args, self.style.halves, all_of=both).items():
            ends = "NULL" if right is None else self._pointer(right)
            pointers[at] = f"{self._pointer(left)} {'==' if both else '!='} {ends}", other
        second = {at for _, _, at in pairs.values()} | {at for _, at in pointers.values()}
        shown: list[str] = []
        for at, part in enumerate(node.args):
            if at in pointers:
                shown.append(pointers[at][0])
            elif at in pairs:
                name, value, _ = pairs[at]
                shown.append(f"{'' if both else '!'}{self.style.function(name)}({self.text(value)})")
            elif at not in second:
                if isinstance(part, Compare) and part not in self.names:
                    text, level = self._comparison(part, node.args if both else ())
                    shown.append(f"({text})" if level > AND else text)
                else:
                    shown.append(self._within(part, AND))
        if len(shown) == 1:
            return shown[0], UNARY
        return (" && ", " || ")[not both].join(shown), (AND if both else OR)

    def _pointer(self, owner: Term) -> str:
        """The pointer of which ``owner`` says into which object it points."""
        place = offset_in_list(owner)
        if place is not None:
            return self.text(Read(*place, INTEGERS))
        assert isinstance(owner, Var)
        return self.style.pointers[owner]

    def _comparison(self, node: Compare, others: Sequence[Condition]) -> tuple[str, int]:
        """A comparison; that nothing, or something, is found in a sequence as what all of it, or some of it, is."""
        found = searched(node, others)
        length = None if found is None or found[1] in self.names else length_in_words(found[1])
        if found is not None and length is not None:
            return f"{LIST}{length}) {'never ends' if found[0] else 'ends'}", RELATION
        if not self.style.quantified:
            found = None
        if found is None or found[1] in self.names:
            return self._compare(node), RELATION
        nothing, search = found
        (condition,) = search.inside
        assert isinstance(condition, Condition)
        if nothing:
            return self._aggregate(search, "all", negate(condition)), ATOM
        return self._aggregate(search, "some"), ATOM

    def _compare(self, node: Compare) -> str:
        null = about_null(node, self.style.pointers) if node.term not in self.names else None
        if null is not None:
            return null
        made = offset_in_list(node.term) if node.relation != "le" and is_made(node.term) else None
        if made is not None:
            return f"{self.text(Read(*made, INTEGERS))} {'==' if node.relation == 'eq' else '!='} NULL"
        positive: dict[Monomial, int] = {}
        negative: dict[Monomial, int] = {}
        if node.relation != "le" and node.term not in self.names:
            node = equal_as_declared(node, self.layouts, self.names)
        poly = self._polynomial(node.term)
        if self.left is not None and node.term not in self.names:
            poly = polynomial(presented_comparison(node.term, node.relation, closed=self._is_closed))
        relation = "eq" if self.style.numerals and _is_at_the_end(node.relation, poly) else node.relation
        limited = at_a_limit(relation, poly) if self.style.numerals else None
        if limited is not None:
            term, sign, limit = limited
            return f"{self._within(term, PLUS)} {sign} {limit}"
        for monomial, coefficient in poly.items():
            if monomial:
                (positive if coefficient > 0 else negative)[monomial] = abs(coefficient)
        constant = poly.get((), 0)
        left, right = from_polynomial(positive), from_polynomial(negative)
        if relation != "le":
            sign = RELATIONS[relation].sign
            if not positive:
                left, right, constant = right, left, -constant
            return self._sides(left, sign, right, -constant)
        if not positive:
            return self._strict_or_not(right, ">=", ">", constant, constant - 1)
        if not negative:
            return self._strict_or_not(left, "<=", "<", -constant, 1 - constant)
        if constant == 1:
            return self._sides(left, "<", right, 0)
        if constant > 1 or constant == 0:
            return f"{self._within(_plus(left, constant), PLUS)} <= {self._within(right, PLUS)}"
        return self._sides(left, "<=", right, -constant)

    def _sides(self, left: Term, sign: str, right: Term, constant: int) -> str:
        return f"{self._within(left, PLUS)} {sign} {self._within(_plus(right, constant), PLUS)}"

    def _strict_or_not(self, term: Term, weak: str, strict: str, weak_limit: int, strict_limit: int) -> str:
        """``term ≤ limit`` or ``term < limit + 1``, whichever has the rounder number."""
        if roundness(strict_limit) < roundness(weak_limit):
            return f"{self._within(term, PLUS)} {strict} {self._number(strict_limit)}"
        return f"{self._within(term, PLUS)} {weak} {self._number(weak_limit)}"


def _are_natural(dividend: Term, divisor: Term) -> bool:
    """Whether a quotient of these is the same however it is rounded."""
    low = range_of(dividend)[0]
    return low is not None and low >= 0 and isinstance(divisor, Const) and divisor.value > 0


def _is_at_the_end(relation: str, poly: Polynomial) -> bool:
    """Whether what is compared with a number cannot be beyond it: u <= 0 of an unsigned u is u == 0."""
    left = {monomial: c for monomial, c in poly.items() if monomial}
    if relation != "le" or len({c > 0 for c in left.values()}) != 1:
        return False
    return range_of(from_polynomial(left))[0] == -poly.get((), 0)


def _signed(shown: str, coefficient: int) -> str:
    return f"-{shown}" if coefficient < 0 else shown


def _is_operation(monomial: Monomial) -> bool:
    return any(isinstance(atom, Op | Ite | Wrap) for atom, _ in monomial)


_COUNTS = IntType(None, signed=False)


def fold_text(name: str, shared: Folding, style: Style) -> str:
    """What the name of a fold stands for: ``F(k) = fold(v = 1; k1 < k: v' = 31*v + a[k1])``."""
    bound, starts, inside = shared
    own = words_of((*starts, *inside))
    length = Var(next(k for k in bound_names(own) if k not in style.taken), _COUNTS)
    fold = Aggregate("fold", (length, ZERO, *starts), bound, inside)
    others = {key: other for key, other in style.folds.items() if key != shared}
    shown = _written(fold, {}, replace(style, folds=others))
    return f"{name}({length.name}) = {shown.removesuffix(f'.{value_names(fold, style.taken)[0]}')}"


def _plus(term: Term, constant: int) -> Term:
    poly = polynomial(term)
    poly[()] = poly.get((), 0) + constant
    return from_polynomial(poly)
