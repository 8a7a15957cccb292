package renaming

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// words replace the names of a case by others. Names that have a beginning in common still have
// it, because what is nearly a name is what a compiler gets wrong.
//
// A case is read twice. The first time, the words learn its names. Then [words.choose] chooses
// the new ones, and the second time they are put in place.
type words struct {
	*rand.Rand
	// names are the parts of names, and segments those of paths. A path may be longer.
	names, segments vocabulary
	domains         vocabulary
	// calls are the parts of services and methods of gRPC.
	calls   vocabulary
	ports   map[uint16]uint16
	methods map[string]string
	// changed are the methods that are replaced, by each other.
	changed []string
	// kept are words that have a meaning of their own.
	kept map[string]bool
	// mayDeepen is true where SPIFFE IDs may have any number of segments, and deeper are the
	// segments that stand in front of those they have.
	mayDeepen bool
	deeper    string
	// short is true where the names of ports and labels have the bounds of Kubernetes.
	short bool
	turn  turn
	// portNames are the names of ports as the case has them.
	portNames map[string]bool
	// firsts has the first characters of new words, or whole words, by the words that they replace.
	firsts map[string]string
	// wholes has the new names of whole names, which are not replaced word by word, see [Names.Replace].
	wholes map[string]string
	// chosen is true from [words.choose] on.
	chosen bool
}

// vocabulary maps each known text to another one.
type vocabulary map[string]string

var wordPattern = regexp.MustCompile(`[A-Za-z0-9]+`)

// The authorizers of a mesh config. The last one is in none. Their names stay.
const (
	Authorizer, OtherAuthorizer, NoAuthorizer = "opa", "guard", "lost"
)

// usualKept are names that policies may leave out, or that a control plane knows.
var usualKept = []string{"default", "kuma", "kubernetes", "io", "system", "istio", "https", "origin", Authorizer, OtherAuthorizer, NoAuthorizer}

func newWords(r *rand.Rand) *words {
	w := &words{
		Rand: r, names: vocabulary{}, segments: vocabulary{}, domains: vocabulary{}, calls: vocabulary{},
		ports: map[uint16]uint16{}, methods: map[string]string{}, changed: Methods, kept: map[string]bool{}, firsts: map[string]string{}, wholes: map[string]string{}, portNames: map[string]bool{},
	}
	w.keep(usualKept...)
	return w
}

func (w *words) keep(some ...string) {
	for _, word := range some {
		w.kept[word] = true
	}
}

// choose chooses the new words. In one set of four the usual ones stay, for each kind of words by
// itself, so that nothing known and nothing unknown tells a set apart.
func (w *words) choose() {
	w.chosen = true
	if w.mayDeepen && w.rarely() {
		for range 1 + w.IntN(5) {
			w.deeper += likeCase(letters(w.Rand, 1+w.IntN(12)), []string{"a", "A"}[w.IntN(2)]) + "/"
		}
	}
	style, mixed := w.IntN(len(styles)), w.IntN(2) == 0
	w.fill(w.names, w.turn.keepsNames(), func() string {
		if mixed {
			style = w.IntN(len(styles))
		}
		return styles[style](w.Rand)
	}, func(suffix string) string { return letters(w.Rand, len(suffix)) })
	w.fill(w.segments, w.rarely(), w.segment, func(string) string { return letters(w.Rand, 1+w.IntN(4)) })
	w.fill(w.domains, w.turn.keepsDomains(), w.domain, func(suffix string) string { return suffix })
	if len(w.calls) > 0 {
		w.fill(w.calls, w.rarely(), w.identifier, func(suffix string) string { return letters(w.Rand, len(suffix)) })
	}
	stay, taken := w.rarely(), map[uint16]bool{}
	for _, port := range slices.Sorted(maps.Keys(w.ports)) {
		to := port
		for !stay && (to == port || taken[to]) {
			to = w.port()
		}
		w.ports[port], taken[to] = to, true
	}
	if methods := slices.Sorted(maps.Keys(w.methods)); !w.rarely() {
		others := slices.Clone(w.changed)
		w.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		for i, method := range methods {
			w.methods[method] = others[i]
		}
	}
}

func (w *words) rarely() bool { return w.IntN(4) == 0 }

// fill chooses a word for each of a vocabulary, no word twice. The new word of a text that
// begins with another text begins with the new word of that text.
func (w *words) fill(v vocabulary, stay bool, fresh func() string, behind func(suffix string) string) {
	known := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	if stay {
		return
	}
	taken := map[string]bool{}
	for word := range w.kept {
		taken[word] = true
	}
	for _, text := range known {
		choose := fresh
		if first := w.firsts[text]; first != "" {
			style := styles[(w.turn.nameRank()+len(v))%len(styles)]
			choose = func() string {
				word := style(w.Rand)
				if len(first) > 1 {
					return first
				}
				if strings.Contains(text, ".") {
					word = fresh() // a trust domain
				}
				if w.turn%3 == 0 && !w.short && len(text) > 2 && !strings.Contains(text, ".") && len(word) > 20 {
					word += letters(w.Rand, 14) // up to 55 bytes: other words may begin with it
				}
				return first + word[1:]
			}
		}
		for end := len(text) - 1; end > 0; end-- {
			if start, ok := v[text[:end]]; ok {
				choose = func() string { return start + behind(text[end:]) }
				break
			}
		}
		to := likeCase(choose(), text)
		for n := 0; taken[to]; n++ {
			to = likeCase(choose(), text)
			if n > 20 {
				to += letters(w.Rand, 3)
			}
		}
		v[text], taken[to] = to, true
	}
}

// likeCase gives a word the capitals of another one.
func likeCase(word, like string) string {
	first := like[:1] != strings.ToLower(like[:1])
	switch {
	case first && like == strings.ToUpper(like):
		return strings.ToUpper(word)
	case first:
		return strings.ToUpper(word[:1]) + word[1:]
	default:
		return word
	}
}

// replace replaces the words of a text.
func (w *words) replace(v vocabulary, text string) string {
	if len(w.wholes) > 0 {
		if to, ok := w.wholes[text]; ok {
			return to
		}
		if i := strings.IndexAny(text, "/."); i >= 0 {
			return w.replace(v, text[:i]) + text[i:i+1] + w.replace(v, text[i+1:])
		}
	}
	return wordPattern.ReplaceAllStringFunc(text, func(word string) string {
		if _, err := strconv.Atoi(word); err == nil || w.kept[word] {
			return word
		}
		if !w.chosen {
			v[word] = word
		}
		return cmp.Or(v[word], word)
	})
}

// text replaces the names in a text: those of a SPIFFE ID, a path, a port or any name.
func (w *words) text(s string) string {
	if id, ok := strings.CutPrefix(s, tree.SPIFFEScheme); ok {
		td, path, whole := strings.Cut(id, "/")
		if !whole {
			return tree.SPIFFEScheme + w.startOfDomain(td)
		}
		if path != "" {
			path = w.deeper + w.replace(w.names, path)
		}
		if renamed := tree.SPIFFEScheme + w.trustDomain(td) + "/" + path; len(renamed) <= tree.MostName {
			return renamed
		}
		return s
	}
	if strings.HasPrefix(s, "/") {
		// An escape sequence is no word.
		if strings.Contains(s, "%") {
			return s
		}
		return w.replace(w.segments, s)
	}
	if port, err := strconv.ParseUint(s, 10, 16); err == nil && w.ports[uint16(port)] != 0 {
		return fmt.Sprint(w.ports[uint16(port)])
	}
	return w.replace(w.names, s)
}

// trustDomain replaces a whole trust domain. One without a dot may be the name of a mesh.
func (w *words) trustDomain(td string) string {
	if !strings.Contains(td, ".") {
		return w.replace(w.names, td)
	}
	if !w.chosen {
		w.domains[td] = td
	}
	return cmp.Or(w.domains[td], td)
}

// startOfDomain replaces what may be the beginning of a trust domain.
func (w *words) startOfDomain(s string) string {
	if to := w.domains[s]; to != "" {
		return to
	}
	for _, known := range slices.Sorted(maps.Keys(w.domains)) {
		if to := w.domains[known]; s != "" && strings.HasPrefix(known, s) {
			return to[:max(1, min(len(s), len(to)-1))]
		}
	}
	return s
}

// usualPort replaces a port.
func (w *words) usualPort(port uint16) uint16 {
	if !w.chosen {
		w.ports[port] = port
	}
	return cmp.Or(w.ports[port], port)
}

// call replaces the names in a service or a method of gRPC.
func (w *words) call(text string) string { return w.replace(w.calls, text) }

// identifier makes up a part of the name of a service or a method of gRPC, which has no dash.
func (w *words) identifier() string {
	noun := nouns[w.IntN(len(nouns))]
	switch w.IntN(3) {
	case 0:
		return letters(w.Rand, 1+w.IntN(20))
	case 1:
		return strings.ReplaceAll(noun, "-", "") + "_" + letters(w.Rand, 1+w.IntN(8))
	default:
		return strings.ReplaceAll(noun, "-", "") + likeCase(letters(w.Rand, 1+w.IntN(8)), "Aa")
	}
}

func (w *words) method(m string) string {
	if !slices.Contains(w.changed, m) {
		return m
	}
	if !w.chosen {
		w.methods[m] = m
	}
	return cmp.Or(w.methods[m], m)
}

// Methods are the methods that take the place of each other. Gateway API knows the first seven.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE", "PROPFIND", "REPORT"}

// styles are the ways to make up a part of a name. A set has one of them, or all.
var styles = []func(*rand.Rand) string{
	func(r *rand.Rand) string { return nouns[r.IntN(len(nouns))] },
	func(r *rand.Rand) string { return nouns[r.IntN(len(nouns))] + fmt.Sprint(r.IntN(10)) },
	func(r *rand.Rand) string {
		return nouns[r.IntN(len(nouns))] + "-" + nouns[r.IntN(len(nouns))] + "-" + letters(r, 1+r.IntN(6))
	},
	func(r *rand.Rand) string { return letters(r, 1+r.IntN(4)) },
	func(r *rand.Rand) string { return letters(r, 5+r.IntN(8)) },
	func(r *rand.Rand) string {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteByte("bcdfghklmnprstvz"[r.IntN(16)])
			b.WriteByte("aeiou"[r.IntN(5)])
		}
		return b.String()
	},
	func(r *rand.Rand) string { return fmt.Sprint(r.IntN(10)) + letters(r, 1+r.IntN(5)) },
	// A name of Kubernetes has at most 63 bytes. Other words may begin with this one: it leaves
	// room for their ends.
	func(r *rand.Rand) string {
		word := nouns[r.IntN(len(nouns))]
		for range 1 + r.IntN(8) {
			word += "-" + nouns[r.IntN(len(nouns))]
		}
		return word[:min(len(word), []int{28, 28, 28, 40}[r.IntN(4)])] + letters(r, 1)
	},
	// The name of a pod.
	func(r *rand.Rand) string {
		return nouns[r.IntN(len(nouns))] + fmt.Sprintf("-%09x-", r.Uint64N(1<<36)) + letters(r, 5)
	},
}

var nouns = strings.Fields(`account admin api audit auth backend basket billing books cache cart catalog chat checkout customer db details
	edge email events frontend gateway invoice jobs kube-system ledger login mail media monitoring orders payments platform portal prod production products profile queue
	ratings reports reviews search session shipping shop staging stock store team track users web worker`)

// letters makes up a word that begins with a letter.
func letters(r *rand.Rand, n int) string {
	return choice.New(r.IntN).Letters(n)
}

// segment makes up a part of a path, seldom a long one.
func (w *words) segment() string {
	if w.IntN(12) == 0 {
		return letters(w.Rand, 40+w.IntN(400))
	}
	return styles[w.IntN(len(styles))](w.Rand)
}

// usualDomain is the trust domain that most meshes have unless told otherwise.
const usualDomain = "cluster.local"

// domain makes up a trust domain.
func (w *words) domain() string {
	last := []string{"com", "corp", "dev", "example", "internal", "io", "lan", "local", "mesh", "net", "org", "svc", "test"}
	parts := []string{last[w.IntN(len(last))]}
	switch w.IntN(8) {
	case 0:
		return usualDomain
	case 1:
		parts = nil
	}
	for range 1 + w.IntN(4) {
		parts = append(parts, styles[w.IntN(len(styles))](w.Rand))
	}
	if len(parts) == 2 && parts[0] == "mesh" {
		parts = []string{"local", "mesh", parts[1], "default"} // as Kuma names that of a mesh in a zone
	}
	slices.Reverse(parts)
	td := strings.Join(parts, ".")
	if w.IntN(8) == 0 {
		return strings.ReplaceAll(td, "-", "_")
	}
	return td
}

// port chooses a port, one time in two a well-known one.
func (w *words) port() uint16 {
	if known := []uint16{1, 22, 80, 443, 1433, 3000, 3306, 5000, 5432, 5672, 6379, 8000, 8080, 8081, 8443, 8888, 9000, 9090, 9092, 9200, 15090, 27017, 50051, 65535}; w.IntN(2) == 0 {
		return known[w.IntN(len(known))]
	}
	return uint16(1 + w.IntN(65_535))
}
