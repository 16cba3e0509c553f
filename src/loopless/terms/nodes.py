"""The nodes of integer terms and conditions: immutable, interned, so that equal structure is the same object.

Terms denote integers without bound; machine arithmetic is written out with :class:`Wrap`. The constructors here do not
simplify: build with :mod:`loopless.terms.build`, which keeps sums in a canonical polynomial form.

Interning is by the full structural key, never by a digest. Nodes live as long as their process: each file is worked on
in a worker process of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from loopless import clock
from loopless.limits.terms import MAX_CONSTANT_BITS, MAX_KEY_LENGTH, NODE_CHARGE_S
from loopless.terms.operators import OPERATORS, RELATIONS
from loopless.terms.types import IntType

_NONE: Final[frozenset[Any]] = frozenset()


class Node:
    """A term or a condition. ``key`` is a text that orders nodes the same way in every run.

    A class of nodes names its fields, in the order in which it interns them; they are slots, which are read faster
    than properties. Nobody sets them but :meth:`_intern`.
    """

    __slots__ = ("__weakref__", "_range", "key", "variables")
    _table: ClassVar[dict[tuple[Any, ...], Node]] = {}
    __match_args__: ClassVar[tuple[str, ...]] = ()
    _setters: ClassVar[tuple[Callable[[Any, Any], None], ...]]
    key: str
    _range: Any
    variables: frozenset[Var]
    """All variables that occur in the node."""
    written: ClassVar[Callable[[Node], str]]
    """How a node is shown. :mod:`loopless.terms.printing`, which knows all nodes, puts its ``text`` here."""

    def __init_subclass__(cls) -> None:
        cls._setters = tuple(getattr(cls, name).__set__ for name in cls.__match_args__)

    @property
    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    @classmethod
    def _intern(cls, *fields: Any) -> Self:
        table_key = (cls, *fields)
        found = Node._table.get(table_key)
        if found is None:
            found = object.__new__(cls)
            for put, field in zip(cls._setters, fields):  # noqa: B905
                put(found, field)
            found._range = None
            found.variables = found._own_variables()
            found.key = _shorten(found._make_key())
            Node._table[table_key] = found
        return found  # type: ignore[return-value]

    def _make_key(self) -> str:
        raise NotImplementedError

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly below this one."""
        return ()

    def _own_variables(self) -> frozenset[Var]:
        """The variables of the nodes directly below, most often those of one of them."""
        found: frozenset[Var] = _NONE
        for child in self.children:
            more = child.variables
            if found is not more and not more <= found:
                found = more if found <= more else found | more
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._intern, self._fields

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __lt__(self, other: Node) -> bool:
        return self.key < other.key

    def __repr__(self) -> str:
        return Node.written(self)


clock.meter(lambda: NODE_CHARGE_S * len(Node._table))


class TermTooLarge(Exception):
    """A term would be beyond a limit: a constant of more than :data:`MAX_CONSTANT_BITS` bits, a product of more than
    :data:`MAX_MONOMIALS` monomials, or of one of a degree beyond :data:`MAX_DEGREE`.
    """


def _digits(value: int) -> str:
    """A constant in decimal. Raises :class:`TermTooLarge`."""
    if value.bit_length() > MAX_CONSTANT_BITS:
        raise TermTooLarge(f"a constant of {value.bit_length():,} bits")
    return str(value)


def _shorten(key: str) -> str:
    if len(key) <= MAX_KEY_LENGTH:
        return key
    return key[:40] + hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


def walk(root: Node, done: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """All nodes below and including ``root``, each once, children before parents, without recursion.

    Nodes that are ``done`` are left out with all that only they lead to: for what is remembered of nodes, so that a
    term built step by step is not walked whole at each step. Not what is inside of aggregates.
    """
    return _walked(root, done, lambda node: node.children)


def walk_inside(root: Node, done: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """The same with what is inside of aggregates, where bound variables stand for themselves."""
    return _walked(root, done, lambda node: node.all_below if isinstance(node, Aggregate) else node.children)


def _walked(
    root: Node, done: Callable[[Node], bool] | None, below: Callable[[Node], tuple[Node, ...]]
) -> Iterator[Node]:
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
            continue
        if node in seen or (done is not None and done(node)):
            continue
        seen.add(node)
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(below(node)) if child not in seen)


class Term(Node):
    """An integer-valued term. :mod:`loopless.terms.algebra` gives it operators; an operand may be an ``int``."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __add__(self, other: Term | int) -> Term: ...
        def __radd__(self, other: int) -> Term: ...
        def __sub__(self, other: Term | int) -> Term: ...
        def __rsub__(self, other: int) -> Term: ...
        def __mul__(self, other: Term | int) -> Term: ...
        def __rmul__(self, other: int) -> Term: ...
        def __floordiv__(self, other: Term | int) -> Term: ...
        def __rfloordiv__(self, other: int) -> Term: ...
        def __mod__(self, other: Term | int) -> Term: ...
        def __rmod__(self, other: int) -> Term: ...
        def __neg__(self) -> Term: ...
        def le(self, other: Term | int) -> Condition: ...
        def lt(self, other: Term | int) -> Condition: ...
        def ge(self, other: Term | int) -> Condition: ...
        def gt(self, other: Term | int) -> Condition: ...
        def eq(self, other: Term | int) -> Condition: ...
        def ne(self, other: Term | int) -> Condition: ...


class Const(Term):
    """An integer constant."""

    __match_args__ = ("value",)
    __slots__ = __match_args__
    value: int
    """The constant."""

    def __new__(cls, value: int) -> Const:
        return cls._intern(int(value))

    def _make_key(self) -> str:
        return f"#{_digits(self.value)}"


class Var(Term):
    """A variable: ``name`` as users see it, ``type`` its range. Two variables of one name and type are the same."""

    __match_args__ = ("name", "type")
    __slots__ = __match_args__
    name: str
    """The name that users see."""
    type: IntType
    """The type, whose range every value of the variable respects."""

    def __new__(cls, name: str, type: IntType) -> Var:
        return cls._intern(name, type)

    def _own_variables(self) -> frozenset[Var]:
        return frozenset((self,))

    def _make_key(self) -> str:
        return f"{self.name}:{self.type}"


Monomial = tuple[tuple[Term, int], ...]
"""A product of atoms: pairs of an atom (never a Sum or Const) and its exponent ≥ 1, ordered by key; () is 1."""


class Sum(Term):
    """A polynomial: ``items`` are pairs of a monomial and its non-zero integer coefficient, in a fixed order."""

    __match_args__ = ("items",)
    __slots__ = __match_args__
    items: tuple[tuple[Monomial, int], ...]
    """Monomials with their coefficients."""

    def __new__(cls, items: tuple[tuple[Monomial, int], ...]) -> Sum:
        return cls._intern(items)

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(dict.fromkeys(atom for monomial, _ in self.items for atom, _ in monomial))

    def _make_key(self) -> str:
        parts = (f"{_digits(c)}*" + "*".join(f"{a.key}^{e}" for a, e in m) for m, c in self.items)
        return "(" + "+".join(parts) + ")"


class Op(Term):
    """An operator of :data:`loopless.terms.operators.OPERATORS` applied to terms."""

    __match_args__ = ("op", "args")
    __slots__ = __match_args__
    op: str
    """The operator."""
    args: tuple[Term, ...]
    """The operands."""

    def __new__(cls, op: str, args: tuple[Term, ...]) -> Op:
        assert op in OPERATORS, op
        return cls._intern(op, args)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.args

    def _make_key(self) -> str:
        return f"{self.op}({','.join(a.key for a in self.args)})"


class Wrap(Term):
    """``arg`` reduced modulo 2^width into the range of ``type``."""

    __match_args__ = ("arg", "type")
    __slots__ = __match_args__
    arg: Term
    """What is reduced."""
    type: IntType
    """Into whose range."""

    def __new__(cls, arg: Term, type: IntType) -> Wrap:
        return cls._intern(arg, type)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.arg,)

    def _make_key(self) -> str:
        return f"{self.type}({self.arg.key})"


class Ite(Term):
    """``then`` where ``condition`` holds, else ``otherwise``."""

    __match_args__ = ("condition", "then", "otherwise")
    __slots__ = __match_args__
    condition: Condition
    """What decides."""
    then: Term
    """The value where it holds."""
    otherwise: Term
    """The value elsewhere."""

    def __new__(cls, condition: Condition, then: Term, otherwise: Term) -> Ite:
        return cls._intern(condition, then, otherwise)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.condition, self.then, self.otherwise)

    def _make_key(self) -> str:
        return f"ite({self.condition.key},{self.then.key},{self.otherwise.key})"


STREAM: Final = "()"
"""The names of streams end so, those of objects do not: see :class:`Read`."""

LIST: Final = "list("
"""The names of what lies in the nodes of lists begin so, those of objects do not: see :func:`list_called`."""

MADE: Final = "new("
"""The names of objects that a loop makes begin so, those of others do not: see :func:`made_called`."""

_NODE: Final = ")[]"


OBJECT_IN_LIST: Final = " object"
"""The names of halves of pointers in lists end so that say into which object these point."""


FREED: Final = " freed"
"""As a member of nodes that they were freed; no member has this name."""


def list_called(pointer: str, link: str) -> str:
    """How reads call the nodes that ``pointer`` leads to by the member ``link``, as they are at the entry of a loop.
    What lies in one is called so with the name of a member behind.
    """
    return f"{LIST}{pointer}, {link}{_NODE}"


def made_called(place: str) -> str:
    """How reads call the objects that a loop makes at a place, numbered from 0 on as it makes them. What lies in one is
    called so with the name of a member behind.
    """
    return f"{MADE}{place}{_NODE}"


def in_list(array: str) -> tuple[str, str] | None:
    """Of a name as of :func:`list_called` or :func:`made_called` what stands before the number of the node, and behind
    it; else None.
    """
    if not array.startswith((LIST, MADE)) or array.endswith(STREAM) or _NODE not in array:
        return None
    head, _, member = array.partition(_NODE)
    return head + ")", member


def in_made(array: str) -> bool:
    """Whether a name is of an object that a loop makes, as of :func:`made_called`."""
    return array.startswith(MADE) and in_list(array) is not None


def is_made(owner: Node) -> bool:
    """Whether something is an object that a loop makes, which a pointer to its beginning points into."""
    return isinstance(owner, Read) and in_made(owner.array) and owner.array.endswith(_NODE + OBJECT_IN_LIST)


def counts_values(array: str) -> bool:
    """Whether reads of this name count values, of which there are any number, and not bytes of an object."""
    return array.endswith(STREAM) or in_list(array) is not None


class Read(Term):
    """The element of ``type`` at byte ``offset`` of the memory object ``array``, which nothing in reach changes; or
    value number ``offset``, from 0 on, of the stream ``array``: what a function returned, call after call; or what lies
    in node number ``offset`` of a list.
    """

    __match_args__ = ("array", "offset", "type")
    __slots__ = __match_args__
    array: str
    """The name of the object."""
    offset: Term
    """The byte offset of the element."""
    type: IntType
    """The element's type."""

    def __new__(cls, array: str, offset: Term, type: IntType) -> Read:
        return cls._intern(array, offset, type)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.offset,)

    def _make_key(self) -> str:
        return f"{self.array}[{self.offset.key}]:{self.type}"


AGGREGATES: Final = frozenset(("first", "earliest", "last", "sum", "least", "greatest", "fold"))
"""What an :class:`Aggregate` may be, over the positions t with 0 ≤ t < n: ``first`` is the least t at which a condition
holds, max(n, 0) if there is none; ``earliest`` the least of all t ≥ 0, -1 if there is none; ``last`` the greatest one,
-1 if there is none; ``sum`` adds a term up; ``least`` and ``greatest`` are the extreme of a start and a term; ``fold``
the value of one of several variables that begin with their starts and change together at each position."""

BOUND: Final = "~"
"""The first letter of the names of bound variables, which no variable of a program has."""

OPENED: Final = "|"
"""The first letter of what bound variables are called while what they are bound in is worked on."""


class Aggregate(Term):
    """What ``kind`` of :data:`AGGREGATES` makes of all positions of a sequence: what a loop does with what it reads.

    ``outside``: the number of positions, but nothing for ``earliest``; for ``least`` and ``greatest`` also the start,
    for ``fold`` the number of the variable that is the value, then the starts. ``inside``: what is said of each
    position: a condition (``first``, ``earliest``, ``last``), a term, or the next values of the variables (``fold``).
    ``bound``: the variables of ``inside`` that stand for the position and, of a ``fold``, for the values before; they
    are named by how deep aggregates are nested inside, so that terms that differ in these names only are the same.
    """

    __match_args__ = ("kind", "outside", "bound", "inside")
    __slots__ = __match_args__
    kind: str
    """Which function of the sequence."""
    outside: tuple[Term, ...]
    """How many positions there are, and where it begins."""
    bound: tuple[Var, ...]
    """The position, and the values before."""
    inside: tuple[Node, ...]
    """What is at a position."""

    def __new__(
        cls, kind: str, outside: tuple[Term, ...], bound: tuple[Var, ...], inside: tuple[Node, ...]
    ) -> Aggregate:
        assert kind in AGGREGATES, kind
        return cls._intern(kind, outside, bound, inside)

    @property
    def children(self) -> tuple[Node, ...]:
        """What is said of positions is not among them: bound variables mean something to nobody else."""
        return self.outside

    @property
    def all_below(self) -> tuple[Node, ...]:
        """The nodes directly below, with what is said of positions."""
        return (*self.outside, *self.inside)

    def _own_variables(self) -> frozenset[Var]:
        inside = frozenset[Var]().union(*(part.variables for part in self.inside))
        return super()._own_variables() | (inside - frozenset(self.bound))

    def _make_key(self) -> str:
        outside, inside = (",".join(node.key for node in nodes) for nodes in (self.outside, self.inside))
        return f"{self.kind}({outside};{','.join(v.key for v in self.bound)}:{inside})"


Folding = tuple[tuple[Var, ...], tuple[Term, ...], tuple[Node, ...]]
"""What folds have in common that differ in their lengths, and in which variable is the value: ``bound``, the starts,
and ``inside``."""


class Condition(Node):
    """A truth-valued node. Negation is pushed into the comparisons, so there is no node for it. ``&``, ``|`` and ``~``
    are those of :mod:`loopless.terms.algebra`.
    """

    __slots__ = ()
    if TYPE_CHECKING:

        def __and__(self, other: Condition) -> Condition: ...
        def __or__(self, other: Condition) -> Condition: ...
        def __invert__(self) -> Condition: ...


class Truth(Condition):
    """True or false."""

    __match_args__ = ("value",)
    __slots__ = __match_args__
    value: bool
    """Which of the two."""

    def __new__(cls, value: bool) -> Truth:  # noqa: FBT001  the value is all there is
        return cls._intern(bool(value))

    def _make_key(self) -> str:
        return "true" if self.value else "false"


class Compare(Condition):
    """``term`` ≤ 0, = 0 or ≠ 0: ``relation`` is "le", "eq" or "ne"."""

    __match_args__ = ("relation", "term")
    __slots__ = __match_args__
    relation: str
    """How the term relates to 0."""
    term: Term
    """What is compared with 0."""

    def __new__(cls, relation: str, term: Term) -> Compare:
        assert relation in RELATIONS, relation
        return cls._intern(relation, term)

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.term,)

    def _make_key(self) -> str:
        return f"{self.relation}({self.term.key})"


class And(Condition):
    """All of ``args``, at least two, in the order in which they were built."""

    __match_args__ = ("args",)
    __slots__ = __match_args__
    args: tuple[Condition, ...]
    """The conjuncts."""

    def __new__(cls, args: tuple[Condition, ...]) -> And:
        return cls._intern(args)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.args

    def _make_key(self) -> str:
        return "and(" + ",".join(a.key for a in self.args) + ")"


class Or(Condition):
    """Some of ``args``, at least two, in the order in which they were built."""

    __match_args__ = ("args",)
    __slots__ = __match_args__
    args: tuple[Condition, ...]
    """The disjuncts."""

    def __new__(cls, args: tuple[Condition, ...]) -> Or:
        return cls._intern(args)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.args

    def _make_key(self) -> str:
        return "or(" + ",".join(a.key for a in self.args) + ")"


TRUE = Truth(True)
FALSE = Truth(False)
ZERO = Const(0)
ONE = Const(1)
