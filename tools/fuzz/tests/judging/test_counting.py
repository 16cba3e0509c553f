"""What is counted of native runs of whole programs."""

from loopless.check.oracle.native import NativeHost
from loopless_fuzz.judging.counting import counted, run

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


STRUCTURES = """\
struct s { int n; };
static struct s make(int n)
{
    /*begin make | n | */;
    struct s r = {n};
    if (n > 2) return r;
    r.n = 2;
    return r;
}
int main(void)
{
    /*begin main | | */;
    int k = 0;
    /*enter 0*/;
    while (/*head 0*/(k < make(k + 1).n + 20)) {
        if (k == 10) break;
        k++;
    }
    return /*leave*/(make(1).n);
}
"""


def test_a_function_that_returns_a_structure_is_left():
    """What its callers do behind it is none of its own."""
    with NativeHost() as host:
        (counts,) = run(counted(STRUCTURES), [()], host)
    made = [each for each in counts.activations if each.function == "make"]
    assert made and all(each.returned and each.everything == 0 for each in made)
    (main,) = [each for each in counts.activations if each.function == "main"]
    assert main.returned and main.everything == counts.loops[0].total == 10
