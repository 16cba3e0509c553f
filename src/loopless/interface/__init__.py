"""What people hold in hand in a notebook or a script: programs, functions and loops that can be asked, and the answers.

It stands above ``report``, so what is held can show itself, and beside ``cli``: both put questions to the verbs of
``queries`` and let ``report`` say the answers, and neither knows the other.
"""

from __future__ import annotations
