"""What is counted of native runs of whole programs."""

from loopless.check.counting import counted, run
from loopless.check.oracle.native import NativeHost

MANY = """\
static int s;
static void g(int n)
{
    /*begin g | n; n; n; n; n; n; n; n; n; n | */;
    s += n;
    /*leave*/;
}
static void f(int n)
{
    /*begin f | n | */;
    int i = 0;
    /*enter 0*/;
    while (/*head 0*/(i < n)) {
        g(9);
        i++;
    }
    /*leave*/;
}
int main(void)
{
    /*begin main | | */;
    int k = 0;
    /*enter 1*/;
    while (/*head 1*/(k < 40)) {
        f(3);
        k++;
    }
    return /*leave*/(0);
}
"""


CHANGING = """\
static int a, b = 7, c[3];
static void g(int *p, int *q)
{
    /*begin g | | a=&a=sizeof a; b=&b=sizeof b; c=c=sizeof c; p=p=sizeof *p; q=q=sizeof *q*/;
    *p += 2;
    q[0] = q[0];
    /*leave*/;
}
static int f(int n)
{
    /*begin f | n | a=&a=sizeof a; b=&b=sizeof b; c=c=sizeof c*/;
    g(n ? &a : &c[2], &b);
    return /*leave*/(b = n + 7);
}
int main(void)
{
    /*begin main | | */;
    f(1);
    f(0);
    return /*leave*/(0);
}
"""


def test_what_calls_change():
    """Objects that have other bytes behind a call, by all the names that they have there."""
    with NativeHost() as host:
        (counts,) = run(counted(CHANGING), [()], host)
    found = [(each.function, each.changed) for each in counts.activations]
    assert found == [
        ("main", set()), ("f", {"a", "b"}), ("g", {"a", "p"}), ("f", {"b", "c"}), ("g", {"c", "p"}),
    ]  # fmt: skip


def test_calls_that_are_not_noted_count_by_themselves():
    """Of many calls only the first ones are noted; those beyond do not write over one another's counts."""
    with NativeHost() as host:
        (counts,) = run(counted(MANY), [()], host)
    assert [(count.total, count.most) for count in counts.loops] == [(120, 3), (40, 40)]
    assert counts.dropped > 0
