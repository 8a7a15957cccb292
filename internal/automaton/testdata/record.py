"""Records what C++ RE2 answers, for TestRE2: python3 record.py > re2.txt

It needs the Python package google-re2. Each line has an encoding, a regular expression, and
the words in hexadecimal that it matches as a whole, of the words in the first line.
"""
import random
import re2

random.seed(1)
PIECES = ["a", "b", "/", "k", "s", ".", "[^/]", "[^a]", "[ab]", "[k-z]", "\\w", "\\W", "\\d", "\\s", "\\b", "\\B", "^", "$",
          "(?i:k)", "(?i:S)", "(?i)ab", "(?m:^)", "(?m:$)", "(?s:.)", "\\x{e9}", "\\xff", "\\pL", "[\\x80-\\xff]", "[^\\x00-\\x7f]",
          "\\A", "\\z", "\\Q.\\E", "[[:alpha:]]", "\\x{212a}", "(?-s:.)", "\\n"]


def expression(depth):
    if depth == 0 or random.random() < 0.3:
        return random.choice(PIECES)
    x, y = expression(depth - 1), expression(depth - 1)
    return random.choice(["(?:%s)*" % x, "(?:%s)+" % x, "(%s)?" % x, "(?:%s){1,2}" % x, "(?:%s|%s)" % (x, y), x + y, x + y, x + y])


WORDS = {b"", b"\n", b"a\n", b"\na", b"\xff", b"a\xff", b"\xffa", b"\xc3\xa9", b"\xe9", b"a\xc3\xa9b", b"\xe2\x84\xaa", b"\xc5\xbf",
         b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98\x80", b"K", b"S", b"aB", b"AB", b"."}
while len(WORDS) < 90:
    WORDS.add(bytes(random.choice(b"aabb/ks\n_0\xff\xc3\xa9") for _ in range(random.randint(1, 4))))
WORDS = sorted(WORDS)

print("# " + " ".join(w.hex() or "-" for w in WORDS))
seen = set()
while len(seen) < 500:
    e = expression(random.randint(0, 4))
    if e in seen or len(e) > 80:
        continue
    seen.add(e)
    for name, encoding in ("utf8", re2.Options.Encoding.UTF8), ("latin1", re2.Options.Encoding.LATIN1):
        o = re2.Options()
        o.log_errors = False
        o.encoding = encoding
        try:
            compiled = re2.compile(e.encode(), o)
        except re2.error:
            print(name, e, "refused", sep="\t")
            continue
        print(name, e, " ".join(w.hex() or "-" for w in WORDS if compiled.fullmatch(w)), sep="\t")
