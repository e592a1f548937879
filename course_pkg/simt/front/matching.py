"""Rewrite ``match`` as ``if``, ``elif`` and ``else``, if each case compares with numbers or matches anything."""

import ast


def without_match(tree: ast.AST) -> ast.AST:
    """Return a tree whose ``match`` statements are rewritten as ``if``; those that Numba refuses are left unchanged.

    Examples
    --------
    >>> text = '''match n % 4:
    ...     case 0 | 1:
    ...         x = 1
    ...     case 2 if x > 0:
    ...         x = 2
    ...     case m:
    ...         x = m'''
    >>> print(ast.unparse(without_match(ast.parse(text))))
    matched n % 4 = n % 4
    if matched n % 4 == 0 or matched n % 4 == 1:
        x = 1
    elif matched n % 4 == 2 and x > 0:
        x = 2
    else:
        m = matched n % 4
        x = m
    """
    return ast.fix_missing_locations(_Written().visit(tree))


class _Written(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match):
        self.generic_visit(node)
        if not all(map(_plain, node.cases)):
            return node
        # the space keeps this name distinct from every name in the learner's program
        name = f"matched {ast.unparse(node.subject)}"
        first = ast.Assign([ast.Name(name, ast.Store())], node.subject)
        chain: list = []
        for case in reversed(node.cases):
            body = case.body
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.name:
                given = ast.Assign([ast.Name(case.pattern.name, ast.Store())], ast.Name(name, ast.Load()))
                body = [ast.copy_location(given, case.pattern), *body]
            test = _test(case, name)
            chain = body if test is None else [ast.copy_location(ast.If(test, body, chain), case.pattern)]
        return [ast.copy_location(first, node.subject), *chain]


def _plain(case: ast.match_case) -> bool:
    """Return whether a case compares with numbers, truth values or None, or matches anything.

    A case that binds a name and has a guard does not qualify, because the guard could read the name.
    """
    pattern = case.pattern
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None and (pattern.name is None or case.guard is None)
    several = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    return all(isinstance(one, (ast.MatchValue, ast.MatchSingleton)) for one in several)


def _test(case: ast.match_case, name: str):
    """Return the condition under which a case is taken; None if it is always taken."""
    pattern = case.pattern
    if isinstance(pattern, ast.MatchAs):
        return case.guard
    several = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    compared = [ast.copy_location(_compared(one, ast.Name(name, ast.Load())), one) for one in several]
    test = compared[0] if len(compared) == 1 else ast.BoolOp(ast.Or(), compared)
    return test if case.guard is None else ast.BoolOp(ast.And(), [test, case.guard])


def _compared(pattern, subject: ast.Name) -> ast.Compare:
    """Return the comparison of a number with a pattern: True, False and None are compared by ``is``."""
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)])
    return ast.Compare(subject, [ast.Eq()], [pattern.value])
