package renaming

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
)

// turn is the number of a set in a run. A compiler may be wrong for the names with one first character, or where
// a question has no peers. So these take turns, and chance decides nothing: the first names of workloads and trust
// domains begin with each letter and each digit in turn, and one set of eight has no peers. A set may have no
// service account, or no other namespace than the usual one, so that more sets are needed for these.
type turn uint64

// Turns is how many sets in a row have most first characters. Four times as many have all of them several times.
const Turns = 40

// firsts are the first characters, one of them twice: their number is a prime, so that no number of cases meets
// only some of them.
const firsts = "abcdefghijklmnopqrstuvwxyz0123456789z"

// block is how many sets in a row have one order of what stays.
const block = 8

// keepsNames reports whether the usual names stay, and keepsDomains whether the usual trust domains do. A
// compiler may know these alone.
func (t turn) keepsNames() bool   { return t%block >= 6 }
func (t turn) keepsDomains() bool { t %= block; return t == 2 || t == 3 }

// hasNoPeers reports whether a question of the set has no peers.
func (t turn) hasNoPeers() bool { return t%block == 5 }

// hasUsualDomain reports whether a new trust domain is the usual one. A compiler may know it.
func (t turn) hasUsualDomain() bool { return t%(2*block) == block+1 }

// nameRank and domainRank count the sets that get new names before this one.
func (t turn) nameRank() int { return int(t/block)*6 + int(min(t%block, 6)) }

func (t turn) domainRank() int {
	in := int(t % block)
	if in >= 2 {
		in = max(2, in-2)
	}
	return int(t/block)*6 + in
}

// first returns the first character of the names of a rank.
func first(rank int) string { return string(firsts[rank%len(firsts)]) }

// lead says with which characters the names of a case begin, and in which style they are. The first name of
// each kind has the character whose turn it is, and the others have others.
func (w *words) lead(c cases.Case, policies []any) {
	var workloads, namespaces, names []string
	for _, in := range c.Inbounds {
		workloads, namespaces = append(workloads, in.Workload.Name), append(namespaces, in.Workload.Namespace)
	}
	for _, p := range policies {
		p, _ := p.(map[string]any)
		metadata, _ := p["metadata"].(map[string]any)
		for _, of := range []map[string]any{p, metadata} {
			if name, ok := of["name"].(string); ok {
				names = append(names, name)
			}
		}
	}
	// Steps of 11 meet each of the characters. A set may have no service account, and most have several:
	// three characters take turns with them.
	rank := w.turn.nameRank()
	for _, kind := range []struct {
		names       []string
		begin, step int
	}{{workloads, rank, 11}, {accountsIn(policies), int(w.turn/2) * 3, 1}, {namespaces, rank, 11}, {names, rank, 11}} {
		i := 0
		for _, name := range kind.names {
			root := w.root(w.names, wordPattern.FindString(name))
			if _, known := w.firsts[root]; root == "" || known {
				continue
			}
			w.firsts[root] = first(kind.begin + kind.step*i)
			i++
		}
	}
	for i, td := range c.TrustDomains {
		if w.domains[td.Name()] != "" {
			w.firsts[td.Name()] = first(w.turn.domainRank() + 11*i)
			if i == 0 && w.turn.hasUsualDomain() {
				w.firsts[td.Name()] = usualDomain
			}
		}
	}
}

// root returns the shortest known text with which a known word begins, and "" for a word that is not known.
func (w *words) root(v vocabulary, word string) string {
	if v[word] == "" {
		return ""
	}
	for end := 1; end < len(word); end++ {
		if v[word[:end]] != "" {
			return word[:end]
		}
	}
	return word
}

// accountsIn returns the service accounts that policies name, by their names or by SPIFFE IDs.
func accountsIn(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if _, account, ok := strings.Cut(v, "/sa/"); ok {
			out = append(out, account)
		}
	case []any:
		for _, item := range v {
			out = append(out, accountsIn(item)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if account, ok := v[key].(map[string]any); ok && key == "serviceAccount" {
				if name, ok := account["name"].(string); ok {
					out = append(out, name)
				}
			}
			out = append(out, accountsIn(v[key])...)
		}
	}
	return out
}
