package automaton

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Regex returns the texts that a regular expression of RE2 matches as a whole. It returns
// an error for an expression that cannot be read, that has characters beyond ASCII in an
// encoding that reads them by byte and without regard to case, or that is too large.
func Regex(expression string, as Encoding) (*Language, error) { return regex(expression, as, maxNodes) }

// Texts is [Regex] for an expression of names that somebody listed: its automaton grows with their letters, and has
// no bound.
func Texts(expression string) (*Language, error) { return regex(expression, Latin1, math.MaxInt) }

func regex(expression string, as Encoding, most int) (*Language, error) {
	if as == Latin1 {
		if foldsByEscape(expression) {
			return nil, errors.New("it compares escaped characters without regard to case: Latin-1 folds the letters of ASCII only")
		}
		if beyondLatin1.MatchString(expression) {
			return nil, errors.New("it escapes a character beyond Latin-1, which Envoy refuses where it reads expressions as Latin-1")
		}
		runes := make([]rune, len(expression))
		for i := range len(expression) {
			runes[i] = rune(expression[i])
		}
		expression = string(runes)
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	b := builder{prog: prog, encoding: as, numbers: map[place]int32{}}
	for _, inst := range prog.Inst {
		if inst.Op != syntax.InstEmptyWidth {
			continue
		}
		b.anchored = true
		if syntax.EmptyOp(inst.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			b.looks = true
		}
	}
	start := b.node(place{uint32(prog.Start), atStart})
	for len(b.open) > 0 {
		if len(b.nodes) > most {
			return nil, fmt.Errorf("its automaton has more than %d nodes", most)
		}
		at := b.open[len(b.open)-1]
		b.open = b.open[:len(b.open)-1]
		b.expand(at)
	}
	return b.finish([]int32{start}), nil
}

// beyondLatin1 is a character with a number of more than two digits.
var beyondLatin1 = regexp.MustCompile(`\\x\{0*[1-9a-fA-F][0-9a-fA-F]{2,}\}`)

// foldsByEscape reports whether an expression may compare characters beyond ASCII in any
// case. It takes any flag i beside an escape, or beside a byte beyond ASCII, for that.
func foldsByEscape(expression string) bool {
	folds := false
	for _, group := range strings.Split(expression, "(?")[1:] {
		flags, _, _ := strings.Cut(group, "-")
		flags = flags[:min(len(flags), len(flags)-len(strings.TrimLeft(flags, "imsU")))]
		folds = folds || strings.Contains(flags, "i")
	}
	if !folds {
		return false
	}
	for i := range len(expression) {
		if expression[i] >= utf8.RuneSelf {
			return true
		}
		if expression[i] == '\\' && i+1 < len(expression) && strings.IndexByte("xpP01234567", expression[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// lookbehind is what stands in front of a place in a text, as far as an expression can ask.
type lookbehind uint8

const (
	atStart lookbehind = iota
	behindOther
	behindWord
	behindLine
)

// place is an instruction that is about to run, and what stands in front of it.
type place struct {
	pc         uint32
	lookbehind lookbehind
}

type builder struct {
	draft
	prog     *syntax.Prog
	encoding Encoding
	// anchored is true where an instruction looks at its place at all, and looks where it
	// looks at more than the start and the end of the text.
	anchored, looks bool
	numbers         map[place]int32
	open            []place
}

func (b *builder) node(p place) int32 {
	at, ok := b.numbers[p]
	if !ok {
		at = b.add(false)
		b.numbers[p] = at
		b.open = append(b.open, p)
	}
	return at
}

// lookahead is a kind of byte that an instruction in front of it can ask for. Its bytes are
// those of the ranges.
type lookahead struct {
	next       rune
	ranges     []rune
	lookbehind lookbehind
}

var (
	aheadAny   = []lookahead{{'-', []rune{0, unicode.MaxRune}, behindOther}}
	aheadKinds = []lookahead{
		{'a', []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}, behindWord},
		{'\n', []rune{'\n', '\n'}, behindLine},
		{'-', []rune{0, '\n' - 1, '\n' + 1, '0' - 1, '9' + 1, 'A' - 1, 'Z' + 1, '_' - 1, '_' + 1, 'a' - 1, 'z' + 1, unicode.MaxRune}, behindOther},
	}
)

// lastRune is the character in front, for [syntax.EmptyOpContext].
var lastRune = [...]rune{atStart: -1, behindOther: '-', behindWord: 'a', behindLine: '\n'}

func (b *builder) expand(p place) {
	from := b.numbers[p]
	if slices.ContainsFunc(b.closure(p, -1), func(pc uint32) bool { return b.prog.Inst[pc].Op == syntax.InstMatch }) {
		b.nodes[from].accepts = true
	}
	kinds := aheadAny
	if b.looks {
		kinds = aheadKinds
	}
	for _, kind := range kinds {
		for _, pc := range b.closure(p, kind.next) {
			inst := &b.prog.Inst[pc]
			if inst.Op == syntax.InstMatch {
				continue
			}
			after := kind.lookbehind
			if !b.anchored {
				after = atStart
			}
			to := b.node(place{inst.Out, after})
			ranges := runesOf(inst)
			for i := 0; i+1 < len(ranges); i += 2 {
				for k := 0; k+1 < len(kind.ranges); k += 2 {
					low, high := max(ranges[i], kind.ranges[k]), min(ranges[i+1], kind.ranges[k+1])
					if low <= high {
						b.runes(from, to, low, high)
					}
				}
			}
		}
	}
}

// closure returns the instructions that wait for a character, or are a match, behind a
// place, where next is the character to come, and -1 the end of the text.
func (b *builder) closure(p place, next rune) []uint32 {
	flags := syntax.EmptyOpContext(lastRune[p.lookbehind], next)
	seen := map[uint32]bool{}
	var out []uint32
	open := []uint32{p.pc}
	for len(open) > 0 {
		pc := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &b.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			open = append(open, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			open = append(open, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				open = append(open, inst.Out)
			}
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}
	return out
}

// runesOf returns the characters of an instruction, in pairs of the first and the last.
func runesOf(inst *syntax.Inst) []rune {
	switch inst.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	}
	if len(inst.Rune) != 1 {
		return inst.Rune
	}
	first := inst.Rune[0]
	out := []rune{first, first}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			out = append(out, r, r)
		}
	}
	return out
}

// runes joins two nodes by the bytes of a range of characters.
func (b *builder) runes(from, to int32, low, high rune) {
	if b.encoding == Latin1 {
		if low <= 0xff {
			b.join(from, to, byte(low), byte(min(high, 0xff)))
		}
		return
	}
	if low <= 0x80 && high == unicode.MaxRune {
		// For this range, which "." has, RE2 is not strict: it takes characters that are too
		// large, and encodings that are too long.
		b.sequence(from, to, []byte{0xc2, 0x80}, []byte{0xdf, 0xbf})
		b.sequence(from, to, []byte{0xe0, 0x80, 0x80}, []byte{0xef, 0xbf, 0xbf})
		b.sequence(from, to, []byte{0xf0, 0x80, 0x80, 0x80}, []byte{0xf4, 0xbf, 0xbf, 0xbf})
		high = 0x7f
	}
	// Ranges are split where the number of bytes changes.
	for _, part := range [...][2]rune{{0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xffff}, {0x10000, unicode.MaxRune}} {
		if first, last := max(low, part[0]), min(high, part[1]); first <= last {
			b.sequence(from, to, encode(first), encode(last))
		}
	}
}

// encode returns a character as UTF-8. RE2 takes surrogates for characters.
func encode(r rune) []byte {
	if r >= 0xd800 && r < 0xe000 {
		return []byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f}
	}
	return utf8.AppendRune(nil, r)
}

// sequence joins two nodes by all sequences of bytes from the first to the last, which are
// of the same length.
func (b *builder) sequence(from, to int32, first, last []byte) {
	if len(first) == 1 {
		b.join(from, to, first[0], last[0])
		return
	}
	step := func(low, high byte, first, last []byte) {
		if low <= high {
			via := b.add(false)
			b.join(from, via, low, high)
			b.sequence(via, to, first, last)
		}
	}
	least, most := make([]byte, len(first)-1), make([]byte, len(first)-1)
	for i := range least {
		least[i], most[i] = 0x80, 0xbf
	}
	low, high := first[0], last[0]
	if low == high {
		step(low, low, first[1:], last[1:])
		return
	}
	if !slices.Equal(first[1:], least) {
		step(low, low, first[1:], most)
		low++
	}
	if !slices.Equal(last[1:], most) {
		step(high, high, least, last[1:])
		high--
	}
	step(low, high, least, most)
}
