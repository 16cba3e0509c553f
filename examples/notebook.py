# A notebook as a script: editors and Jupyter (with Jupytext) show its cells; run them in the folder of the repository.
# What stands behind "# ->" is the value of the line; tests check all of them.

# %% [markdown]
# # Two loops, asked from Python
#
# How long does a bubble sort take, and what does a loop do whose two paths take turns? In a notebook the last line of a
# cell shows itself, as a table or a picture.

# %%
import loopless

program = loopless.load("examples/looperman/fig3.c")
program

# %% [markdown]
# ## How long: bounds
# Bounds are over the inputs of the function, and count iterations: taken back edges.

# %%
sort = program["bubble_sort"]
outer, inner = sort
bound = inner.bound()
bound

# %%
bound.exact  # -> True
bound.big_o  # -> "O(n^2)"
[bound.at(n=n) for n in (0, 1, 2, 3, 4, 1000)]  # -> [0, 0, 1, 3, 6, 499500]
[n * (n - 1) // 2 for n in (0, 1, 2, 3, 4, 1000)]  # -> [0, 0, 1, 3, 6, 499500]

# %% [markdown]
# A call does take so many: the function is evaluated, and its iterations are counted.

# %%
call = sort.evaluate(n=5, A=[5, 4, 3, 2, 1])
call.outputs  # -> ((1, 2, 3, 4, 5),)
call.iterations[inner.name] == bound.at(n=5) == 10  # -> True

# %% [markdown]
# ## What it does: the summary
# `while (x < n) { if (z > x) x++; else z++; }`, which for some entry values takes its paths in turns.

# %%
loop = loopless.load("examples/proteus/fig1a.c").loops[0]
summary = loop.summarize()
summary

# %% [markdown]
# It says something of every entry state, and exactly that. So it can be called instead of the loop, also where the loop
# would take its time.

# %%
summary.complete and summary.exact  # -> True
summary(x=0, z=5, n=3)  # -> {"x": 3, "z": 5, "n": 3}
summary.iterations(x=0, z=0, n=1_000_000_000)  # -> 2_000_000_000


# %%
def by_hand(x, z, n):
    while x < n:
        if z > x:
            x += 1
        else:
            z += 1
    return {"x": x, "z": z, "n": n}


states = [(x, z, n) for x in range(-3, 4) for z in range(-3, 4) for n in range(-3, 4)]
all(summary(x=x, z=z, n=n) == by_hand(x, z, n) for x, z, n in states)  # -> True

# %% [markdown]
# ## Why: types and automata
# The type says how hard a loop is (1 to 4); the automaton which path follows which.

# %%
loop.classify().type  # -> 1
loop.classify().classification.execution  # -> "periodic"

# %%
loop.automaton()

# %% [markdown]
# ## Where there is no answer
# A refusal is a value that says why, and what to do.

# %%
sorting = loopless.load("examples/looperman/fig3.c", loop_timeout_s=0.001)
refused = sorting.loops[0].summarize()
isinstance(refused, loopless.Refused)  # -> True
refused.reason.code  # -> "L302"
refused

# %% [markdown]
# Limits belong to the program; under others it is asked anew.

# %%
hurried = program.with_settings(loop_timeout_s=0.001)[9].summarize()
hurried.reason is loopless.Reason.TIME_LIMIT  # -> True
